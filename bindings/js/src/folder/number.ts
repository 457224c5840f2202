/** Numbers in the headers of archives, in the forms in use since 1979. */

const ZERO = 0x30;
const SPACE = 0x20;
const MOST = 2n ** 64n - 1n;

/**
 * Decodes a field of a header: an octal number between spaces and zero bytes, or GNU's binary form. A blank field is 0.
 * Returns undefined if the field is no number of 64 bits with a sign.
 */
export function field(bytes: Uint8Array): bigint | undefined {
    return (bytes[0] ?? 0) >= 0x80 ? binary(bytes) : octal(bytes);
}

/** Whether the field begins with the zero byte that ends the number in the field before it, as in archives from AIX. */
export function isOverflown(bytes: Uint8Array): boolean {
    return bytes[0] === 0 && isDigit(bytes[1]);
}

/** Decodes an unsigned number of 64 bits in decimal digits, or returns undefined. */
export function decimal(bytes: Uint8Array): bigint | undefined {
    if (bytes.length === 0 || !bytes.every(isDigit)) {
        return undefined;
    }
    const start = bytes.findIndex(byte => byte !== ZERO);
    const digits = start < 0 ? bytes.subarray(0, 1) : bytes.subarray(start);
    // No number of 64 bits has more than twenty digits.
    if (digits.length > 20) {
        return undefined;
    }
    const value = BigInt(String.fromCharCode(...digits));
    return value <= MOST ? value : undefined;
}

export function isDigit(byte: number | undefined): boolean {
    return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}

function octal(bytes: Uint8Array): bigint | undefined {
    let at = isOverflown(bytes) ? 1 : 0;
    while (bytes[at] === SPACE) {
        at++;
    }
    let value = 0;
    for (; isDigit(bytes[at]); at++) {
        const digit = (bytes[at] ?? 0) - ZERO;
        if (digit > 7) {
            return undefined;
        }
        value = value * 8 + digit;
    }
    const rest = bytes.subarray(at);
    // Twelve octal digits, the most that a field has, are 36 bits.
    return rest.every(byte => byte === SPACE || byte === 0) ? BigInt(value) : undefined;
}

/** Reads a number in two's complement. The first bit only shows the form, so the sign is the second bit. */
function binary(bytes: Uint8Array): bigint | undefined {
    let value = BigInt.asIntN(7, BigInt((bytes[0] ?? 0) & 0x7f));
    for (const byte of bytes.subarray(1)) {
        value = (value << 8n) | BigInt(byte);
    }
    return BigInt.asIntN(64, value) === value ? value : undefined;
}
