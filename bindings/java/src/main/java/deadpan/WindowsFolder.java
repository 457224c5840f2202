package deadpan;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.AclEntry;
import java.nio.file.attribute.AclEntryFlag;
import java.nio.file.attribute.AclEntryPermission;
import java.nio.file.attribute.AclEntryType;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;

/** A new folder on Windows that only its owner can enter. */
final class WindowsFolder {
    /** A younger folder may belong to a program that has not loaded its library yet. */
    private static final Duration OLD = Duration.ofHours(1);

    /** The operating system's own account, which Wine lists in each folder. */
    private static final String SYSTEM = "NT AUTHORITY\\SYSTEM";

    private WindowsFolder() {}

    /** Makes the folder, and removes the folders that earlier programs have left. */
    static Path make(Path place) throws IOException {
        UserPrincipal owner = owner(place);
        removeOld(place, owner);
        List<AclEntry> rights = only(owner);
        Path folder =
                Files.createTempDirectory(
                        place,
                        LibraryFolder.PREFIX,
                        new FileAttribute<List<AclEntry>>() {
                            @Override
                            public String name() {
                                return "acl:acl";
                            }

                            @Override
                            public List<AclEntry> value() {
                                return rights;
                            }
                        });
        try {
            // Windows may have added the rights that the place hands down.
            AclFileAttributeView view =
                    Files.getFileAttributeView(folder, AclFileAttributeView.class, NOFOLLOW_LINKS);
            view.setAcl(rights);
            for (AclEntry entry : view.getAcl()) {
                UserPrincipal given = entry.principal();
                if (entry.type() == AclEntryType.ALLOW
                        && !given.equals(owner)
                        && !given.getName().equals(SYSTEM)) {
                    throw LibraryFolder.replaceable(folder);
                }
            }
        } catch (IOException | UnsatisfiedLinkError failed) {
            LibraryFolder.remove(folder);
            throw failed;
        }
        return folder;
    }

    /** Returns the owner of what this process makes, which Java tells only of a file. */
    private static UserPrincipal owner(Path place) throws IOException {
        Path empty = Files.createTempDirectory(place, LibraryFolder.PREFIX);
        try {
            return Files.getOwner(empty, NOFOLLOW_LINKS);
        } finally {
            Files.delete(empty);
        }
    }

    /** Returns each right for the owner, in the folder and in what is made there. */
    private static List<AclEntry> only(UserPrincipal owner) {
        return List.of(
                AclEntry.newBuilder()
                        .setType(AclEntryType.ALLOW)
                        .setPrincipal(owner)
                        .setPermissions(EnumSet.allOf(AclEntryPermission.class))
                        .setFlags(AclEntryFlag.FILE_INHERIT, AclEntryFlag.DIRECTORY_INHERIT)
                        .build());
    }

    /** Removes the owner's old folders. A library that is still loaded stays. */
    private static void removeOld(Path place, UserPrincipal owner) {
        Instant old = Instant.now().minus(OLD);
        String names = LibraryFolder.PREFIX + "*";
        try (DirectoryStream<Path> found = Files.newDirectoryStream(place, names)) {
            for (Path folder : found) {
                if (isOld(folder, old, owner)) {
                    LibraryFolder.remove(folder);
                }
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            // The system's own folder for temporary files lists its contents to administrators
            // only.
        }
    }

    private static boolean isOld(Path folder, Instant old, UserPrincipal owner) {
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(folder, BasicFileAttributes.class, NOFOLLOW_LINKS);
            // For a junction, both isDirectory and isOther are true.
            return attributes.isDirectory()
                    && !attributes.isOther()
                    && attributes.lastModifiedTime().toInstant().isBefore(old)
                    && Files.getOwner(folder, NOFOLLOW_LINKS).equals(owner);
        } catch (IOException gone) {
            return false;
        }
    }
}
