/** What can be wrong with what is shown. These functions run in the page, and must not use anything from outside. */

/** Returns what is wrong with ids and labels. */
export function unlabeled() {
    /** @type {string[]} */
    const found = [];
    const ids = Array.from(document.querySelectorAll("[id]"), ({ id }) => id);
    found.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map(id => `the id ${id} is not unique`));
    for (const name of ["for", "aria-controls", "aria-labelledby", "aria-describedby"]) {
        for (const element of document.querySelectorAll(`[${name}]`)) {
            const id = element.getAttribute(name) ?? "";
            if (document.getElementById(id) === null) {
                found.push(`${name}=${id} leads nowhere`);
            }
        }
    }
    for (const element of document.querySelectorAll("button, input, select, textarea, progress, summary")) {
        const { labels } = /** @type {HTMLInputElement} */ (element);
        const own = element.matches("button, summary") ? element.textContent : "";
        const by = document.getElementById(element.getAttribute("aria-labelledby") ?? "");
        const label = element.getAttribute("aria-label") ?? (labels?.[0] ?? by)?.textContent ?? "";
        // The text that names a hidden bar of progress comes with the work.
        if ((label || own || "").trim() === "" && element.checkVisibility()) {
            found.push(`${element.tagName} ${element.id} has no label`);
        }
    }
    return found;
}

/** Returns texts with less contrast than 4.5 to 1. */
export function pale() {
    /** @typedef {[number, number, number, number]} Color */
    /** @param {string} css @returns {Color} */
    const parse = css => {
        const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
        return [red, green, blue, alpha];
    };
    /** @param {Color} color */
    const luminance = color => {
        const [red = 0, green = 0, blue = 0] = color.slice(0, 3).map(part => {
            const value = part / 255;
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    /** @param {Element | null} element @returns {Color} */
    const behind = element => {
        for (; element !== null; element = element.parentElement) {
            const color = parse(getComputedStyle(element).backgroundColor);
            if (color[3] === 1) {
                return color;
            }
        }
        return [255, 255, 255, 1];
    };
    /** @param {Color} text @param {Color} ground */
    const contrast = (text, ground) => {
        const [one, other] = [luminance(text), luminance(ground)];
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    };
    /** @type {string[]} */
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const hasText = Array.from(element.childNodes).some(node => node.nodeType === 3 && node.textContent?.trim());
        if (!element.checkVisibility() || !(hasText || element.matches("input, textarea, select"))) {
            continue;
        }
        const pairs = [{ what: "", text: parse(getComputedStyle(element).color), ground: behind(element) }];
        if (element.matches("[type=file]")) {
            const style = getComputedStyle(element, "::file-selector-button");
            const ground = parse(style.backgroundColor);
            pairs.push({
                what: "'s button",
                text: parse(style.color),
                ground: ground[3] === 1 ? ground : behind(element),
            });
        }
        for (const { what, text, ground } of pairs) {
            const ratio = contrast(text, ground);
            if (ratio < 4.5) {
                const label = element.id || element.className || element.textContent?.slice(0, 20);
                found.push(`${element.tagName} ${label}${what}: ${ratio.toFixed(2)} (${text} on ${ground})`);
            }
        }
    }
    return found;
}

/** Returns what does not fit into the window. */
export function tooWide() {
    const width = document.documentElement.clientWidth;
    const found = Array.from(document.querySelectorAll("body, body *"))
        .filter(element => element.checkVisibility())
        .map(element => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.right > width + 0.5 || box.left < -0.5)
        .map(
            ({ element, box }) => `${element.tagName} ${element.id || element.className}: ${box.left} to ${box.right}`,
        );
    const { scrollWidth } = document.documentElement;
    return scrollWidth > width ? [`the page is ${scrollWidth} wide`, ...found] : found;
}
