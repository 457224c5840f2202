/** Writes pictures with few colors as small PNG files. */

import { crc32, deflateSync } from "node:zlib";

const MOST = 256;

/**
 * Returns a PNG file with a palette. If there are more than 256 colors, rare ones become the most similar frequent
 * ones. @param {Uint8Array} rgba @param {number} width
 */
export function withPalette(rgba, width) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    const pixels = Array.from({ length: rgba.length / 4 }, (_, i) => {
        const [red = 0, green = 0, blue = 0] = rgba.subarray(4 * i, 4 * i + 3);
        const color = (red << 16) | (green << 8) | blue;
        counts.set(color, (counts.get(color) ?? 0) + 1);
        return color;
    });
    const byCount = Array.from(counts).sort(([one, often], [other, more]) => more - often || one - other);
    const palette = byCount.slice(0, MOST).map(([color]) => color);
    const places = new Map(byCount.map(([color]) => [color, nearest(palette, color)]));
    const height = pixels.length / width;
    const rows = Buffer.alloc(height * (width + 1));
    pixels.forEach((color, i) => {
        rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = places.get(color) ?? 0;
    });
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    // 8 bits for each pixel, which is a place in the palette.
    header.set([8, 3], 8);
    return Buffer.concat([
        Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
        chunk("IHDR", header),
        chunk("PLTE", Buffer.from(palette.flatMap(parts))),
        chunk("IDAT", deflateSync(rows, { level: 9 })),
        chunk("IEND", Buffer.alloc(0)),
    ]);
}

/** @param {number} color */
function parts(color) {
    return [color >> 16, (color >> 8) & 255, color & 255];
}

/** @param {number[]} palette @param {number} color */
function nearest(palette, color) {
    /** @param {number} other */
    const distance = other => {
        const [from, to] = [parts(color), parts(other)];
        return from.reduce((sum, part, i) => sum + (part - (to[i] ?? 0)) ** 2, 0);
    };
    return palette.reduce((best, other, i) => (distance(other) < distance(palette[best] ?? 0) ? i : best), 0);
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
    const checked = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(checked));
    return Buffer.concat([length, checked, check]);
}
