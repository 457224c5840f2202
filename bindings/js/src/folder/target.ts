/** Where folders are unpacked. */

import type { Bytes } from "../bytes.ts";
import { DeadpanError } from "../error.ts";

/** Where a folder is unpacked. Paths are lists of names, none of which is empty, `.` or `..`, or has a `/` or a NUL. */
export interface UnpackTarget {
    /** Makes a folder, if it is not there. The folder above it is there. */
    folder(path: string[]): Promise<void>;
    /** Begins a file of `size` bytes. The folder above it is there. */
    file(path: string[], modified: number, size: number): Promise<UnpackFile>;
    /** Makes a symbolic link. A target without this function gets a note about each link. */
    symlink?(path: string[], target: string): Promise<void>;
    /** Hears of an entry that is not unpacked, and goes on. */
    note(path: string, why: string): void;
}

/** A file that is being written. */
export interface UnpackFile {
    write(bytes: Bytes): Promise<void>;
    /** Ends the file, whose content is whole and checked. */
    close(): Promise<void>;
    /** Drops the file, because its content is damaged or cannot be written. */
    abort(why: unknown): Promise<void>;
}

/** What a target throws for an entry that it cannot make. The entry is noted, and unpacking goes on. */
export class RefusedError extends DeadpanError {
    override name = "RefusedError";
}
