{
  description = "Seal files and folders with hybrid or post-quantum encryption";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      files = {
        x86_64-linux = {
          url = "@URL@/deadpan-@VERSION@-x86_64-linux.tar.gz";
          sha256 = "@SHA256_X86_64_LINUX@";
        };
        aarch64-linux = {
          url = "@URL@/deadpan-@VERSION@-aarch64-linux.tar.gz";
          sha256 = "@SHA256_AARCH64_LINUX@";
        };
        aarch64-darwin = {
          url = "@URL@/deadpan-@VERSION@-aarch64-macos.tar.gz";
          sha256 = "@SHA256_AARCH64_MACOS@";
        };
      };
      package =
        system: file:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "deadpan";
          version = "@VERSION@";
          src = pkgs.fetchurl file;
          # The program for Linux is static, and a change would break the signature of the program for macOS.
          dontFixup = true;
          installPhase = ''
            mkdir $out
            cp -r bin share $out
          '';
          meta = {
            description = "Seal files and folders with hybrid or post-quantum encryption";
            license = with nixpkgs.lib.licenses; [
              mit
              asl20
            ];
            sourceProvenance = [ nixpkgs.lib.sourceTypes.binaryNativeCode ];
            mainProgram = "deadpan";
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: file: { default = package system file; }) files;
    };
}
