/** Options: a misspelt one could leave out a check, so unknown names are refused. */

/** Refuses options that do not exist. */
export function checkOptions(options: object, names: readonly string[]): void {
    for (const name of Object.keys(options)) {
        if (!names.includes(name)) {
            throw new TypeError(`there is no option ${name}; the options are ${names.join(", ")}`);
        }
    }
}
