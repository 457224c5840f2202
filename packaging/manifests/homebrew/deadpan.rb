class Deadpan < Formula
  desc "Seal files and folders with hybrid or post-quantum encryption"
  homepage "@URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    depends_on arch: :arm64
    url "@URL@/deadpan-@VERSION@-aarch64-macos.tar.gz"
    sha256 "@SHA256_AARCH64_MACOS@"
  end

  on_linux do
    on_intel do
      url "@URL@/deadpan-@VERSION@-x86_64-linux.tar.gz"
      sha256 "@SHA256_X86_64_LINUX@"
    end
    on_arm do
      url "@URL@/deadpan-@VERSION@-aarch64-linux.tar.gz"
      sha256 "@SHA256_AARCH64_LINUX@"
    end
  end

  def install
    bin.install "bin/deadpan"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/deadpan"
    zsh_completion.install "share/zsh/site-functions/_deadpan"
    fish_completion.install "share/fish/vendor_completions.d/deadpan.fish"
    doc.install Dir["share/doc/deadpan/*"]
  end

  test do
    (testpath/"plain").write "nothing to see"
    system bin/"deadpan", "keygen", "--no-passphrase", "-o", "key"
    system bin/"deadpan", "seal", "-r", "key.pub", "plain"
    assert_equal "nothing to see", shell_output("#{bin}/deadpan open -i key -o - plain.dpn")
  end
end
