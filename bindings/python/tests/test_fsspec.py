"""The file system for fsspec, and what pandas and pyarrow read through it."""

import concurrent.futures
import io
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import time

import deadpan
import pytest

fsspec = pytest.importorskip("fsspec", reason="fsspec is missing: scripts/tool python")

KEY = deadpan.PrivateKey.generate()
OPTIONS = {"keys": KEY}
LONG = random.Random(1).randbytes(3_000_000)
FILES = {"a.csv": b"x,y\n1,2\n", "sub/b.csv": b"x,y\n3,4\n", "sub/deep/c.bin": LONG, "empty": b""}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with x.dpn, which holds FILES, and a.csv.dpn; it is also the folder in which the test runs."""
    for name, data in FILES.items():
        (tmp_path / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / name).write_bytes(data)
    deadpan.seal_folder(tmp_path / "x", tmp_path / "x.dpn", KEY.public)
    deadpan.seal_file(tmp_path / "x/a.csv", tmp_path / "a.csv.dpn", KEY.public)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["path", "compressed", "file object", "memory"])
def entries(request, place):
    """A file system whose paths are those of FILES, each time with another source."""
    if request.param == "compressed":
        deadpan.seal_folder("x", "x.dpn", KEY.public, compress=3, replace=True)
    if request.param == "file object":
        with open("x.dpn", "rb") as file:
            yield fsspec.filesystem("deadpan", fo=file, **OPTIONS)
        return
    if request.param == "memory":
        memory = fsspec.filesystem("memory")
        memory.pipe("/x.dpn", (place / "x.dpn").read_bytes())
        (place / "x.dpn").unlink()
        yield fsspec.filesystem("deadpan", fo="memory://x.dpn", **OPTIONS)
        memory.rm("/x.dpn")
        return
    yield fsspec.filesystem("deadpan", fo="x.dpn", **OPTIONS)


def read(url, **options):
    with fsspec.open(url, **OPTIONS, **options) as file:
        return file.read()


def test_importing_the_package_does_not_import_fsspec():
    code = "import deadpan, sys; assert 'fsspec' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert fsspec.get_filesystem_class("deadpan").__module__ == "deadpan.fsspec"


def test_urls(place):
    for url in [
        "deadpan://a.csv.dpn",
        f"deadpan://{place}/a.csv.dpn",
        "deadpan://x.dpn::a.csv",
        f"deadpan://{place}/x.dpn::a.csv",
        "deadpan://a.csv::x.dpn",
        f"deadpan://a.csv::{place}/x.dpn",
        f"deadpan://a.csv::file://{place}/x.dpn",
        "deadpan://::a.csv.dpn",
    ]:
        assert read(url) == FILES["a.csv"], url
    assert read("deadpan://x.dpn::sub/b.csv") == read("deadpan://sub/b.csv::x.dpn") == FILES["sub/b.csv"]
    memory = fsspec.filesystem("memory")
    memory.pipe("/y.dpn", (place / "x.dpn").read_bytes())
    assert read("deadpan://sub/b.csv::memory://y.dpn") == FILES["sub/b.csv"]
    assert read("deadpan://sub/b.csv::simplecache::memory://y.dpn") == FILES["sub/b.csv"]
    files = fsspec.open_files("deadpan://**/*.csv::x.dpn", **OPTIONS)
    assert [file.path for file in files] == ["a.csv", "sub/b.csv"]
    # x.dpn is a folder, which is not opened as a file.
    assert [file.path for file in fsspec.open_files("deadpan://*.dpn", **OPTIONS)] == ["a.csv.dpn"]
    assert fsspec.filesystem("deadpan", **OPTIONS).glob("*.dpn") == ["a.csv.dpn", "x.dpn"]


def test_a_plain_file_with_the_name_of_an_entry_changes_nothing(place):
    (place / "a.csv").write_bytes(b"another")
    assert read("deadpan://x.dpn::a.csv") == read("deadpan://a.csv::x.dpn") == FILES["a.csv"]


def test_a_url_that_means_two_things_is_refused(place):
    (place / "y").mkdir()
    (place / "y/x.dpn").write_bytes((place / "x.dpn").read_bytes())
    (place / "x/y.dpn").write_bytes(b"an entry")
    deadpan.seal_folder("y", "y.dpn", KEY.public)
    deadpan.seal_folder("x", "x.dpn", KEY.public, replace=True)
    with pytest.raises(ValueError, match="both sealed files.*open.'x.dpn::y.dpn'.*fo='y.dpn'"):
        read("deadpan://x.dpn::y.dpn")
    # What the message says.
    assert fsspec.filesystem("deadpan", **OPTIONS).open("x.dpn::y.dpn").read() == b"an entry"
    inner = fsspec.filesystem("deadpan", fo="y.dpn", **OPTIONS).open("x.dpn")
    assert [entry for entry in fsspec.filesystem("deadpan", fo=inner, **OPTIONS).find("")] == sorted(FILES)


def test_what_is_missing_is_named(place):
    files = fsspec.filesystem("deadpan", **OPTIONS)
    for path in ["none.dpn", "none.dpn::a.csv", "x", "x.dpn::none", "x.dpn::sub/../a.csv", "a.csv.dpn::a.csv", ""]:
        with pytest.raises(FileNotFoundError):
            files.info(path)
        assert not files.exists(path) and not files.isfile(path) and not files.isdir(path)
    for url in ["deadpan://none.dpn::a.csv", "deadpan://x.dpn::none.csv", "deadpan://none.csv::x.dpn"]:
        with pytest.raises(FileNotFoundError):
            read(url)
    with pytest.raises(IsADirectoryError):
        files.open("x.dpn::sub")
    (place / "x.dpn::a.csv").write_bytes(b"")
    with pytest.raises(ValueError, match="may mean 'x.dpn' or 'x.dpn::a.csv'.*fo=SEALED"):
        files.info("x.dpn::a.csv")


def test_listing(entries):
    assert [info["name"] for info in entries.ls("", detail=True)] == ["a.csv", "empty", "sub"]
    assert entries.ls("sub", detail=False) == ["sub/b.csv", "sub/deep"] == entries.ls("/sub/", detail=False)
    assert entries.ls("sub/b.csv", detail=False) == ["sub/b.csv"]
    assert entries.find("") == sorted(FILES)
    assert entries.find("sub", maxdepth=1, withdirs=True) == ["sub", "sub/b.csv", "sub/deep"]
    assert list(entries.walk("sub")) == [("sub", ["deep"], ["b.csv"]), ("sub/deep", [], ["c.bin"])]
    assert entries.glob("**/*.csv") == ["a.csv", "sub/b.csv"] and entries.glob("su*/") == ["sub"]
    for name, data in FILES.items():
        info = entries.info(name)
        assert (info["size"], info["type"], info["name"]) == (len(data), "file", name)
        assert entries.size(name) == len(data) and entries.isfile(name) and not entries.isdir(name)
        assert abs(entries.modified(name).timestamp() - time.time()) < 3600
    assert entries.isdir("sub") and entries.isdir("") and entries.exists("sub/deep")
    assert entries.du("") == sum(map(len, FILES.values()))


def test_listing_with_the_path_of_the_sealed_file(place):
    files = fsspec.filesystem("deadpan", **OPTIONS)
    assert files.ls("x.dpn", detail=False) == ["x.dpn::a.csv", "x.dpn::empty", "x.dpn::sub"]
    assert files.ls("deadpan://x.dpn::sub", detail=False) == ["x.dpn::sub/b.csv", "x.dpn::sub/deep"]
    assert files.find("x.dpn") == [f"x.dpn::{name}" for name in sorted(FILES)]
    assert files.glob("x.dpn::**/*.csv") == ["x.dpn::a.csv", "x.dpn::sub/b.csv"]
    assert list(files.walk("x.dpn"))[0] == ("x.dpn", ["sub"], ["a.csv", "empty"])
    assert files.info("x.dpn")["type"] == "directory" and files.info("a.csv.dpn")["size"] == 8
    assert files.cat("x.dpn::*.csv") == {"x.dpn::a.csv": FILES["a.csv"]}
    # What the listing returns opens, also for the folder in a URL in our own order.
    for info in files.find("x.dpn", detail=True).values():
        assert len(files.cat_file(info["name"])) == info["size"]
    files, path = fsspec.url_to_fs("deadpan://x.dpn::sub/deep", **OPTIONS)
    assert files.find(path) == ["x.dpn/c.bin"] and files.cat_file("x.dpn/c.bin") == LONG
    assert files.glob(path + "/*.bin") == ["x.dpn/c.bin"] and not files.exists("x.dpn::a.csv")


def test_reading(entries):
    with entries.open("sub/deep/c.bin", "rb") as file:
        assert file.size == len(LONG) and file.seek(2_000_000) == 2_000_000
        assert file.read(10) == LONG[2_000_000:2_000_010] and file.read() == LONG[2_000_010:]
    name = "sub/deep/c.bin"
    ranges = [(None, None), (5, 10), (-7, None), (None, -2_999_990), (100, 50), (2_999_999, 9_999_999), (-9, -4)]
    for start, end in ranges:
        assert entries.cat_file(name, start, end) == LONG[start:end]
    assert entries.cat_ranges([name] * 2, [1, 1_500_000], [4, 1_500_004]) == [LONG[1:4], LONG[1_500_000:1_500_004]]
    with entries.open("a.csv", "r", newline="") as text:
        assert text.read() == "x,y\n1,2\n"
    assert entries.cat_file("empty") == b"" and entries.head("a.csv", 3) == b"x,y"


def test_getting_files(entries, place):
    entries.get("sub", str(place / "copy"), recursive=True)
    assert (place / "copy/deep/c.bin").read_bytes() == LONG


def test_several_threads(entries):
    def pieces(seed):
        where = random.Random(seed)
        with entries.open("sub/deep/c.bin") as file:
            for _ in range(40):
                begin = where.randrange(len(LONG))
                file.seek(begin)
                assert file.read(3000) == LONG[begin : begin + 3000]
        return entries.cat_file("a.csv") == FILES["a.csv"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(pieces, range(16)))


def test_each_reader_has_a_source_of_its_own_and_closes_it(place, monkeypatch):
    opened = []

    class Counted(fsspec.AbstractFileSystem):
        protocol, cachable = "counted", False

        def _open(self, path, mode="rb", **kwargs):
            opened.append(io.BytesIO((place / "x.dpn").read_bytes()))
            return opened[-1]

    fsspec.register_implementation("counted", Counted, clobber=True)
    files = fsspec.filesystem("deadpan", fo="counted://x.dpn", **OPTIONS)
    one, other = files.open("a.csv"), files.open("empty")
    assert [file.closed for file in opened] == [True, True, False, False]
    one.close()
    assert [file.closed for file in opened] == [True, True, True, False] and not other.closed
    # Forgetting a reader closes its source, too.
    del other
    assert opened[-1].closed
    with pytest.raises(FileNotFoundError):
        files.open("none")
    monkeypatch.setattr(Counted, "_open", lambda *args, **kwargs: opened.append(io.BytesIO(b"no")) or opened[-1])
    with pytest.raises(deadpan.NotSealedError):
        fsspec.filesystem("deadpan", fo="counted://x.dpn", **OPTIONS).ls("")
    with pytest.raises(deadpan.TruncatedError):
        files.open("a.csv")
    assert len(opened) == 6 and all(file.closed for file in opened)


def test_a_file_in_memory_is_opened_once(monkeypatch):
    memory = fsspec.filesystem("memory")
    memory.pipe("/one.dpn", deadpan.seal(b"face", KEY.public))
    files = fsspec.filesystem("deadpan", fo="memory://one.dpn", **OPTIONS)
    assert files.size("") == 4
    # Another `open` would move the file object while a thread reads from it.
    monkeypatch.setattr(type(memory), "open", None)
    assert files.cat_file("") == b"face"


def test_nothing_is_written(entries):
    for call in [
        lambda: entries.open("new", "wb"),
        lambda: entries.open("a.csv", "ab"),
        lambda: entries.open("a.csv", "r+b"),
        lambda: entries.open("new", "w"),
        lambda: entries.pipe("new", b"x"),
        lambda: entries.mkdir("new"),
        lambda: entries.makedirs("new"),
        lambda: entries.rm("a.csv"),
        lambda: entries.touch("a.csv"),
        lambda: entries.mv("a.csv", "b.csv"),
        lambda: entries.put(__file__, "new"),
    ]:
        with pytest.raises(OSError, match="read-only"):
            call()


def test_links_holes_and_hostile_names(tmp_path):
    names = ["a\nb", "c::d", "e\\f", "deadpan::g", "h*[i]", "\x1b[2J", "ä", "~", " ", os.fsdecode(b"\xff\xfe")]
    root = tmp_path / "x"
    (root / "sub").mkdir(parents=True)
    for name in names:
        (root / name).write_bytes(os.fsencode(name))
    (root / "first").write_bytes(b"one file")
    os.link(root / "first", root / "sub/second")
    links = {"to file": "first", "sub/up": "../a\nb", "to link": "sub/up", "through": "to sub/up"}
    links |= {"to hard": "sub/second"}
    others = {"to sub": "sub", "out": "../x.dpn", "away": "/etc/passwd", "dangling": "none", "loop": "loop"}
    others |= {"root": ".", "absolute": "/first", "up": "../first", "out and in": "../x/first"}
    others |= {"deep": "sub/../" * 550 + "first"}
    for name, target in (links | others).items():
        (root / name).symlink_to(target)
    with open(root / "holes", "wb") as file:
        file.truncate(5_000_000)
        for begin in (1_000_000, 3_000_000):
            file.seek(begin)
            file.write(LONG[:5000])
    deadpan.seal_folder(root, tmp_path / "x.dpn", KEY.public)
    files = fsspec.filesystem("deadpan", fo=tmp_path / "x.dpn", **OPTIONS)
    for name in names:
        assert files.cat_file(name) == os.fsencode(name) and files.info(name)["name"] == name
    routed = fsspec.filesystem("deadpan", **OPTIONS)
    assert routed.cat_file(f"{tmp_path}/x.dpn::c::d") == b"c::d"
    assert set(names) < {info["name"] for info in files.ls("")}
    for name in links:
        data = (root / name).read_bytes()
        info = files.info(name)
        assert (info["type"], info["size"], info["islink"]) == ("file", len(data), True)
        assert info["destination"] == links[name] and files.cat_file(name) == data
    for name in others:
        assert files.info(name)["type"] == "other" and files.info(name)["size"] == 0
        with pytest.raises(FileNotFoundError, match="leads to no file"):
            files.open(name)
    second = files.info("sub/second")
    assert (second["size"], second["type"]) == (8, "file") and files.cat_file("sub/second") == b"one file"
    assert "islink" not in second
    holes = (root / "holes").read_bytes()
    assert files.size("holes") == len(holes) and files.cat_file("holes") == holes
    assert files.cat_file("holes", 999_990, 1_000_010) == holes[999_990:1_000_010]
    # Walking ends, although links lead to folders above.
    assert len(files.find("")) == len(names) + len(links) + len(others) + 3


def test_damage_concerns_only_what_is_read(place):
    sealed = bytearray((place / "x.dpn").read_bytes())
    sealed[len(sealed) // 2] ^= 1
    (place / "x.dpn").write_bytes(sealed)
    files = fsspec.filesystem("deadpan", fo="x.dpn", **OPTIONS)
    name = "sub/deep/c.bin"
    assert files.cat_file("a.csv") == FILES["a.csv"] and files.cat_file(name, 0, 1000) == LONG[:1000]
    assert files.cat_file(name, -1000) == LONG[-1000:]
    with pytest.raises(deadpan.TamperedError, match="x.dpn"):
        files.cat_file(name)
    (place / "x.dpn").write_bytes(sealed[:-1])
    files.invalidate_cache()
    with pytest.raises(deadpan.TamperedError):
        files.exists("a.csv")
    (place / "x.dpn").write_bytes(b"nothing sealed")
    with pytest.raises(deadpan.NotSealedError):
        fsspec.filesystem("deadpan", **OPTIONS).exists("x.dpn::a.csv")


def test_a_file_that_is_sealed_again_is_read_anew(place):
    files = fsspec.filesystem("deadpan", **OPTIONS)
    assert files.cat_file("x.dpn::a.csv") == FILES["a.csv"]
    (place / "x/a.csv").write_bytes(b"new")
    deadpan.seal_folder("x", "x.dpn", KEY.public, replace=True)
    assert files.cat_file("x.dpn::a.csv") == b"new" and files.size("x.dpn::a.csv") == 3


def test_keys_stay_out_of_everything(place):
    secret = KEY.to_pem().decode().split("\n")[1]
    for options in [OPTIONS, {"keys": [KEY, deadpan.Passphrase("secret phrase")]}]:
        files = fsspec.filesystem("deadpan", fo="x.dpn", **options)
        told = [repr(files), str(files), files.to_json(), str(files.to_dict()), str(files.storage_options)]
        told += [str(files.storage_args), str(files._fs_token), str(type(files)._cache)]
        assert all(secret not in text and "phrase" not in text and "keys" not in text for text in told), told
        with pytest.raises(TypeError, match="key folder"):
            pickle.dumps(files)
        with pytest.raises(TypeError, match="key folder"):
            pickle.dumps(fsspec.open("deadpan://x.dpn::a.csv", **options))
    # File systems are never the same instance, also if the texts of their options are the same.
    phrases = [fsspec.filesystem("deadpan", fo="x.dpn", keys=deadpan.Passphrase(text)) for text in "ab"]
    assert phrases[0] != phrases[1] and phrases[0] == phrases[0]
    other = deadpan.PrivateKey.generate()
    with pytest.raises(deadpan.NoKeyError):
        fsspec.filesystem("deadpan", fo="x.dpn", keys=other).info("a.csv")


def test_own_keys(place, monkeypatch):
    monkeypatch.setenv("DEADPAN_HOME", str(place / "home"))
    files = fsspec.filesystem("deadpan", fo="x.dpn")
    with pytest.raises(deadpan.NoKeyError, match="home' has no key.*storage_options"):
        files.info("a.csv")
    (place / "home").mkdir()
    (place / "home/damaged.key").write_bytes(b"no key")
    (place / "home/locked.key").write_bytes(KEY.to_pem(deadpan.Passphrase("x")))
    with pytest.raises(deadpan.NoKeyError, match="a passphrase protects 'locked.key'"):
        files.info("a.csv")
    (place / "home/other.key").write_bytes(deadpan.PrivateKey.generate().to_pem())
    with pytest.raises(deadpan.NoKeyError, match="x.dpn: .*storage_options.*'locked.key'"):
        files.info("a.csv")
    (place / "home/mine.key").write_bytes(KEY.to_pem())
    assert files.cat_file("a.csv") == FILES["a.csv"]
    # Without keys, a file system travels to other processes, which have keys of their own.
    for again in [pickle.loads(pickle.dumps(files)), fsspec.AbstractFileSystem.from_json(files.to_json())]:
        assert again.cat_file("a.csv") == FILES["a.csv"]
    monkeypatch.delenv("DEADPAN_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place))
    os.rename("home", "deadpan")
    assert fsspec.filesystem("deadpan", fo="x.dpn").exists("a.csv")


def test_max_cost(place):
    passphrase = deadpan.Passphrase("straight face")
    deadpan.seal_folder("x", "p.dpn", passphrase)
    options = {"fo": "p.dpn", "keys": passphrase}
    with pytest.raises(deadpan.CostlyError):
        fsspec.filesystem("deadpan", max_cost=deadpan.MaxCost(1000, 1), **options).ls("")
    files = fsspec.filesystem("deadpan", max_cost=deadpan.MaxCost(256 << 10, 3), **options)
    assert json.loads(files.to_json())["max_cost"] == [256 << 10, 3]
    # The passphrase is hashed once.
    files.ls("")
    start = time.monotonic()
    for _ in range(20):
        assert files.cat_file("a.csv") == FILES["a.csv"]
    assert time.monotonic() - start < 1


@pytest.fixture
def memory_folder():
    """A folder in memory where there is one, because disks take seconds for ten thousand files."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield pathlib.Path(folder)


def test_ten_thousand_entries_are_listed_at_once(memory_folder):
    tmp_path = memory_folder
    for number in range(10_000):
        folder = tmp_path / "x" / f"{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:05}.txt").write_bytes(b"face")
    deadpan.seal_folder(tmp_path / "x", tmp_path / "x.dpn", KEY.public)

    class Counted(io.FileIO):
        count = 0

        def read(self, size=-1):
            Counted.count += size
            return super().read(size)

    with Counted(tmp_path / "x.dpn") as file:
        files = fsspec.filesystem("deadpan", fo=file, **OPTIONS)
        start = time.process_time()
        assert len(files.find("", detail=True)) == 10_000
        assert len(files.ls("7")) == 1000
        assert time.process_time() - start < 1
        once = Counted.count
        assert len(files.find("")) == 10_000 and Counted.count == once < 2_000_000
        # A file takes its own part, and a few parts of the index: nine segments.
        assert files.cat_file("7/00007.txt") == b"face" and Counted.count - once < 10 * 2**18


def test_a_reader_of_one_entry(place):
    with deadpan.Reader("x.dpn", KEY, entry="sub/deep/c.bin") as reader:
        reader.seek(1_234_567)
        assert len(reader) == len(LONG) and reader.read(9) == LONG[1_234_567:1_234_576]
    with open("x.dpn", "rb") as file:
        assert deadpan.Reader(file, KEY, entry="a.csv").read() == FILES["a.csv"] and not file.closed
    with pytest.raises(FileNotFoundError):
        deadpan.Reader("x.dpn", KEY, entry="none")
    with pytest.raises(IsADirectoryError):
        deadpan.Reader("x.dpn", KEY, entry="sub")
    with pytest.raises(ValueError, match="a.csv.dpn: the sealed data hold no folder"):
        deadpan.Reader("a.csv.dpn", KEY, entry="a.csv")
    (place / "x/link").symlink_to("a.csv")
    deadpan.seal_folder("x", "x.dpn", KEY.public, replace=True)
    with pytest.raises(ValueError, match="link is a symbolic link to a.csv"):
        deadpan.Reader("x.dpn", KEY, entry="link")


def test_pandas_and_pyarrow(place):
    pandas = pytest.importorskip("pandas", reason="pandas is missing: scripts/tool python/data")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing: scripts/tool python/data")
    table = pandas.DataFrame({"number": range(200_000), "half": [number / 2 for number in range(200_000)]})
    for name in ["table.parquet", "parts/kind=a/0.parquet", "parts/kind=b/0.parquet"]:
        (place / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        table.to_parquet(place / "x" / name, row_group_size=20_000)
    deadpan.seal_folder("x", "x.dpn", KEY.public, replace=True)
    deadpan.seal_file("x/table.parquet", "table.parquet.dpn", KEY.public)
    for url in ["x.dpn::table.parquet", "table.parquet::x.dpn", "table.parquet.dpn"]:
        assert pandas.read_parquet(f"deadpan://{url}", storage_options=OPTIONS).equals(table), url
        column = pandas.read_parquet(f"deadpan://{url}", storage_options=OPTIONS, columns=["half"])
        assert column["half"].equals(table["half"])
    for url in ["x.dpn::a.csv", "a.csv::x.dpn", "a.csv.dpn"]:
        assert pandas.read_csv(f"deadpan://{url}", storage_options=OPTIONS)["y"].tolist() == [2]
    # A folder with several files, in both orders, and by several threads at a time.
    os.rename("x/parts", "x/my.parts")
    deadpan.seal_folder("x", "x.dpn", KEY.public, replace=True)
    for url in ["x.dpn::my.parts", "my.parts::x.dpn"]:
        both = pandas.read_parquet(f"deadpan://{url}", storage_options=OPTIONS)
        assert len(both) == 400_000 and set(both["kind"]) == {"a", "b"}
    files = fsspec.filesystem("deadpan", **OPTIONS)
    for path in ["x.dpn::my.parts/kind=a/0.parquet", "x.dpn::table.parquet"]:
        read = parquet.read_table(path, filesystem=files, partitioning=None, use_threads=True, pre_buffer=True)
        assert read.num_rows == 200_000
