/**
 * Seals files, folders, streams and bytes with classical, post-quantum and hybrid encryption.
 *
 * <p>Start a program with {@code --enable-native-access=deadpan}: the module calls the library
 * {@code libdeadpan}.
 */
module deadpan {
    exports deadpan;
}
