package deadpan;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Turns codes of the library into exceptions. */
final class Failure {
    static final int OK = 0;
    static final int ARGUMENT = 1;
    static final int ROOM = 2;
    static final int HANDLE = 3;
    static final int BUSY = 4;
    static final int STOPPED = 5;
    private static final int PANIC = 6;
    private static final int EXISTS = 7;
    private static final int NOT_SEALED = 10;
    private static final int NEWER = 11;
    private static final int TRUNCATED = 12;
    private static final int TAMPERED = 13;
    private static final int LIMIT = 14;
    private static final int SIGNATURE = 15;
    private static final int ENCODING = 16;
    private static final int NO_KEY = 20;
    private static final int PASSPHRASE = 21;
    private static final int COSTLY = 22;
    private static final int KEY = 23;
    private static final int LOCKED = 24;
    static final int READ = 30;
    static final int WRITE = 31;

    /**
     * Error numbers of the system. All systems that have EPERM, ENOENT and EACCES use these
     * numbers.
     */
    private static final int NOT_PERMITTED = 1;

    private static final int NOT_FOUND = 2;
    private static final int NO_ACCESS = 13;

    private Failure() {}

    /** The files that a call works on. Each of the two may be {@code null}. */
    record Subject(Path input, Path output) {
        static final Subject NONE = new Subject(null, null);
    }

    /**
     * Returns the exception for a code. If the caller's code caused the failure, the method throws
     * the caller's exception and returns nothing.
     *
     * @throws IllegalArgumentException for an argument that is not possible
     * @throws IllegalStateException for an object that was closed, or is in use
     */
    static IOException of(int code, Call.Told told, Subject subject) {
        String text = told.text();
        return switch (code) {
            case ARGUMENT -> throw new IllegalArgumentException(text);
            case HANDLE -> throw new IllegalStateException("closed meanwhile: " + text);
            case BUSY -> throw new IllegalStateException(text);
            case EXISTS -> new OutputExistsException(subject.output, text);
            case NOT_SEALED -> new NotSealedException(text);
            case NEWER -> new NewerVersionException(text);
            case TRUNCATED -> new TruncatedException(text);
            case TAMPERED -> new TamperedException(text);
            case LIMIT -> new LimitException(text);
            case SIGNATURE -> new ForgedSignatureException(text);
            case ENCODING -> new EncodingException(text);
            case NO_KEY -> new NoKeyException(text);
            case PASSPHRASE -> new WrongPassphraseException(text);
            case COSTLY -> new CostlyPassphraseException(text);
            case KEY -> new DamagedKeyException(text);
            case LOCKED -> new LockedKeyException(text);
            case READ -> ofSystem(subject.input, told);
            case WRITE -> ofSystem(subject.output, told);
            case PANIC -> throw new AssertionError(text);
            // A failure of the system, or a code of a library that is newer than this package.
            default -> new DeadpanException(text);
        };
    }

    /** Returns the exception for a throwable of a method handle that must not throw. */
    static RuntimeException unexpected(Throwable thrown) {
        switch (thrown) {
            case RuntimeException own -> throw own;
            case Error own -> throw own;
            default -> throw new AssertionError(thrown);
        }
    }

    /**
     * Returns the exception that the caller's own code threw in a callback. Adds the library's
     * error to it.
     */
    static IOException thrown(Throwable thrown, IOException library) {
        if (library != null && library != thrown) {
            thrown.addSuppressed(library);
        }
        return switch (thrown) {
            case RuntimeException own -> throw own;
            case Error own -> throw own;
            case IOException own -> own;
            default -> new IOException(thrown);
        };
    }

    /** Returns the exception for an error that the system reported about a file. */
    private static IOException ofSystem(Path file, Call.Told told) {
        if (file == null) {
            return new IOException(told.text());
        }
        return switch (told.errno()) {
            case NOT_FOUND -> new FileMissingException(file, told.text());
            case NOT_PERMITTED, NO_ACCESS -> new FileDeniedException(file, told.text());
            default -> new FileFailedException(file, told.text());
        };
    }
}

/** The output exists already. */
final class OutputExistsException extends FileAlreadyExistsException {
    private static final long serialVersionUID = 1;

    OutputExistsException(Path file, String text) {
        super(String.valueOf(file), null, text);
    }

    @Override
    public String getMessage() {
        return getReason();
    }
}

/** A file does not exist. */
final class FileMissingException extends NoSuchFileException {
    private static final long serialVersionUID = 1;

    FileMissingException(Path file, String text) {
        super(file.toString(), null, text);
    }

    @Override
    public String getMessage() {
        return getReason();
    }
}

/** The system denies access to a file. */
final class FileDeniedException extends AccessDeniedException {
    private static final long serialVersionUID = 1;

    FileDeniedException(Path file, String text) {
        super(file.toString(), null, text);
    }

    @Override
    public String getMessage() {
        return getReason();
    }
}

/** A file cannot be read or written, for another reason of the system. */
final class FileFailedException extends FileSystemException {
    private static final long serialVersionUID = 1;

    FileFailedException(Path file, String text) {
        super(file.toString(), null, text);
    }

    @Override
    public String getMessage() {
        return getReason();
    }
}
