package backup_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// entry is one of an archive.
type entry struct {
	tar.Header
	data []byte
}

func entriesOf(t *testing.T, archive []byte) (list []entry) {
	t.Helper()
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := in.Next()
		if err == io.EOF {
			return list
		}
		testkit.NoError(t, err)
		data, err := io.ReadAll(in)
		testkit.NoError(t, err)
		list = append(list, entry{*h, data})
	}
}

func archiveOf(t *testing.T, list ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for _, e := range list {
		if e.Typeflag == 0 || e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.data))
		}
		testkit.NoError(t, out.WriteHeader(&e.Header))
		if _, err := out.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	testkit.NoError(t, out.Close())
	return b.Bytes()
}

func plain(name, text string) entry { return entry{tar.Header{Name: name, Mode: 0o600}, []byte(text)} }

// with is an archive whose manifest is changed, with its checksum, and which holds a text besides.
func with(t *testing.T, list []entry, text string, change func(m *backup.Manifest, f backup.File)) []byte {
	t.Helper()
	last := len(list) - 1
	body, _, _ := bytes.Cut(list[last].data, []byte("\n"))
	var m backup.Manifest
	testkit.NoError(t, json.Unmarshal(body, &m))
	sum := sha256.Sum256([]byte(text))
	change(&m, backup.File{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
	body, err := json.Marshal(m)
	testkit.NoError(t, err)
	sum = sha256.Sum256(body)
	manifest := plain("manifest.json", string(body)+"\n"+hex.EncodeToString(sum[:])+"\n")
	return archiveOf(t, append(append([]entry{}, list[:last]...), plain("more", text), manifest)...)
}

// A backup that somebody else altered writes nothing outside of the data folder, links nowhere and brings no
// configuration that git obeys. What is no whole backup leaves nothing.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", true)
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
		Send: `{"message":"m","content":"eA=="}`})
	var saved bytes.Buffer
	if _, err := backup.ToStream(t.Context(), backup.Source{DB: s.DB, Folder: s.Dir}, &saved); err != nil {
		t.Fatal(err)
	}
	list := entriesOf(t, saved.Bytes())
	rest, manifest := list[:len(list)-1], list[len(list)-1]
	outside := filepath.Join(t.TempDir(), "outside")
	restore := func(archive []byte) (folder string, err error) {
		folder = t.TempDir()
		return folder, backup.FromStream(t.Context(), bytes.NewReader(archive), backup.Destination{
			Folder: folder, Database: db.Options{URL: filepath.Join(folder, "arbor.db")}})
	}
	before := func(e entry) []byte { return archiveOf(t, append([]entry{e}, list...)...) }
	link := func(kind byte) []byte {
		return before(entry{Header: tar.Header{Name: "files", Typeflag: kind, Linkname: outside}})
	}
	names := func(path string) []byte {
		return with(t, list, "evil", func(m *backup.Manifest, f backup.File) {
			f.Path = path
			m.Files = append([]backup.File{f}, m.Files...)
			if len(m.Files) > 1 && path > m.Files[1].Path {
				m.Files = append(m.Files[1:], f)
			}
		})
	}
	for name, archive := range map[string][]byte{
		"empty": {}, "cut": saved.Bytes()[:saved.Len()/2], "no manifest": archiveOf(t, rest...),
		"symbolic link": link(tar.TypeSymlink), "hard link": link(tar.TypeLink), "device": link(tar.TypeChar),
		"disk": link(tar.TypeBlock), "pipe": link(tar.TypeFifo), "folder": link(tar.TypeDir),
		"no checksum": archiveOf(t, append(append([]entry{}, rest...), plain("manifest.json", "{}\n"))...),
		"deep":        archiveOf(t, plain("manifest.json", strings.Repeat("[", 1<<20))),
		"above":       names("../outside"), "absolute": names(outside), "database": names("arbor.db"),
		"above a folder": names("ssh/../../outside"), "hook": names("repositories/01/1.git/hooks/post-receive"),
		"alternates": names("repositories/01/1.git/objects/info/alternates"), "marker": names("restoring"),
		"NUL": names("tls/a\x00b"), "backslash": names(`tls/..\..\x`), "the unpacked": names(".unpacked/x"),
		"not the tables": with(t, list, "evil", func(m *backup.Manifest, f backup.File) {
			m.Tables.SHA256 = f.SHA256
		}),
		"digest that is a path": with(t, list, "", func(m *backup.Manifest, _ backup.File) {
			m.Files[0].SHA256 = strings.Repeat("../", 21) + "a"
		}),
		"a size that is none": with(t, list, "", func(m *backup.Manifest, _ backup.File) { m.Files[0].Size = 1 << 60 }),
		"a file twice": with(t, list, "", func(m *backup.Manifest, _ backup.File) {
			m.Files = append(m.Files, m.Files[len(m.Files)-1])
		}),
	} {
		folder, err := restore(archive)
		if err == nil {
			t.Errorf("%s: it is restored", name)
			continue
		}
		if strings.ContainsAny(err.Error(), "\x00\x1b\n") {
			t.Errorf("%s: %q", name, err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("%s leaves %v, %v", name, left, err)
		}
	}

	const evil = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[include]\n\tpath = /etc/passwd\n"
	for name, archive := range map[string][]byte{
		"names that lead elsewhere": before(plain("../../"+outside, "evil")),
		"twice":                     archiveOf(t, append(append([]entry{}, rest...), append(rest, manifest)...)...),
		"a configuration": with(t, list, evil, func(m *backup.Manifest, f backup.File) {
			for n := range m.Files {
				if filepath.Base(m.Files[n].Path) == "config" {
					f.Path, m.Files[n] = m.Files[n].Path, f
					m.Files[n].Path = f.Path
				}
			}
		}),
	} {
		folder, err := restore(archive)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		configs, _ := filepath.Glob(filepath.Join(folder, "repositories/*/*/config"))
		if len(configs) != 1 {
			t.Fatalf("%s: configurations %q", name, configs)
		}
		if text, err := os.ReadFile(configs[0]); err != nil || string(text) != git.Config {
			t.Errorf("%s: git obeys %q, %v", name, text, err)
		}
	}
	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written outside: %v", err)
	}
}
