/** The decoder of Zstandard. */

export { decompress } from "fzstd";
