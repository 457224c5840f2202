/** The decoder of Zstandard. */

export { Decompress } from "fzstd";
