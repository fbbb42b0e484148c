package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// estate is a store with a repository, and a folder to which files can go.
type estate struct {
	t     testing.TB
	d     *db.DB
	data  string
	away  string // the folder
	files *file.Store
	log   *bytes.Buffer
}

func newEstate(t testing.TB, engine db.Engine) *estate {
	t.Helper()
	e := &estate{t: t, d: dbtest.Open(t, engine), data: t.TempDir(), away: t.TempDir(), log: &bytes.Buffer{}}
	dbtest.Exec(t, e.d, `INSERT INTO accounts (id, login, login_folded, kind, created_at, updated_at)
		VALUES (1, 'alice', 'alice', 1, 1, 1)`)
	dbtest.Exec(t, e.d, `INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch,
		created_at, updated_at, pushed_at) VALUES (1, 1, 'garden', 'garden', FALSE, 'main', 1, 1, 1)`)
	dbtest.Exec(t, e.d, `INSERT INTO store_identity (id, store, folder) VALUES (1, 'the-store', '/srv')`)
	e.files = e.node()
	return e
}

// node returns the store as another process has it.
func (e *estate) node() *file.Store {
	log := slog.New(slog.NewTextHandler(e.log, nil))
	s := file.New(e.d, repo.New(e.d, nil, log, filepath.Join(e.data, "repositories"), nil), log, e.data)
	s.Metrics = depot.NewMetrics()
	return s
}

func (e *estate) address() string { return "file://" + e.away }

// use has new files go to the folder.
func (e *estate) use() {
	e.t.Helper()
	offline, err := e.files.Use(e.t.Context(), e.address())
	testkit.NoError(e.t, errors.Join(offline, err))
}

// add stores a file and its row.
func (e *estate) add(content string) *file.File {
	e.t.Helper()
	f, err := e.files.Receive(e.t.Context(), strings.NewReader(content), int64(len(content)), nil)
	testkit.NoError(e.t, err)
	dbtest.MustWrite(e.t, e.d, func(tx *db.Tx) error { return file.InsertAll(tx, 1, []*file.File{f}) })
	return f
}

// mustCanonical is depot.Canonical.
func mustCanonical(t testing.TB, address string) string {
	t.Helper()
	canonical, err := depot.Canonical(address)
	testkit.NoError(t, err)
	return canonical
}

// where are the places in which a file is.
func (e *estate) where(f *file.File) string {
	found := ""
	for _, place := range [][2]string{{"data", e.data}, {"away", e.away}} {
		if _, err := os.Stat(filepath.Join(place[1], file.Path(f.Name))); err == nil {
			found += place[0]
		}
	}
	return found
}

func (e *estate) read(s *file.Store, f *file.File) (string, error) {
	in, err := s.Open(e.t.Context(), f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	return string(data), err
}

func (e *estate) move(to string) (file.Moved, error) {
	moved, err := e.node().Move(e.t.Context(), file.MoveOptions{To: to, Progress: func(int64, int64) {},
		Problem: func(line string) { e.t.Log(line) }})
	if err == nil {
		err = e.node().LeaveEmpty(e.t.Context())
	}
	return moved, err
}

// What is uploaded lies in the folder alone, and is read by each node; what was deleted is gone from it.
func TestFilesInDepot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		e := newEstate(t, engine)
		e.use()
		small, large := e.add("seeds"), e.add(strings.Repeat("peas ", 1<<20))
		for _, f := range []*file.File{small, large} {
			if got := e.where(f); got != "away" {
				t.Errorf("a file is in %q", got)
			}
			for _, s := range []*file.Store{e.files, e.node()} {
				if got, err := e.read(s, f); int64(len(got)) != f.Size || err != nil {
					t.Errorf("it has %d bytes, %v", len(got), err)
				}
			}
		}
		copies, err := e.files.LinkAll(t.Context(), []*file.File{small, large})
		testkit.NoError(t, err)
		if got, err := e.read(e.files, copies[0]); got != "seeds" || err != nil {
			t.Errorf("the copy is %q, %v", got, err)
		}
		e.files.DiscardAll(t.Context(), copies)
		dbtest.MustWrite(t, e.d, func(tx *db.Tx) error { return e.files.Drop(tx, 1, []file.ID{small.ID}) })
		e.files.Wait()
		if left := e.where(small) + e.where(copies[0]) + e.where(copies[1]); left != "" {
			t.Errorf("what was deleted is in %q", left)
		}
		if _, err := e.read(e.files, small); !errs.Is(err, errs.NotFound) {
			t.Errorf("a deleted file: %v", err)
		}
	})
}

// A file that was cut, altered or lost is never sent whole with a 200: a small one is an error, a large one breaks
// off.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.use()
	for _, content := range []string{"seeds", strings.Repeat("peas ", 1<<20)} {
		for name, damage := range map[string]func(path string, data []byte) error{
			"cut":     func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)-1], 0o600) },
			"longer":  func(path string, data []byte) error { return os.WriteFile(path, append(data, 0), 0o600) },
			"altered": func(path string, data []byte) error { data[0] ^= 1; return os.WriteFile(path, data, 0o600) },
			"lost":    func(path string, _ []byte) error { return os.Remove(path) },
		} {
			f := e.add(content)
			testkit.NoError(t, damage(filepath.Join(e.away, file.Path(f.Name)), []byte(content)))
			got, err := e.read(e.files, f)
			if !errs.Is(err, errs.Unavailable) || len(got) == len(content) {
				t.Errorf("a file that is %s: %d bytes of %d, %v", name, len(got), f.Size, err)
			}
			logged := 0
			for line := range strings.Lines(e.log.String()) {
				if strings.Contains(line, f.Name) {
					logged++
				}
			}
			if logged != 1 {
				t.Errorf("a file that is %s is logged %d times: %s", name, logged, e.log)
			}
		}
	}
}

// Parts of a file are read where they are.
func TestRangesOfDepot(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.use()
	var content strings.Builder
	for n := range 1_200_000 {
		fmt.Fprintf(&content, "%07d\n", n)
	}
	for _, text := range []string{"seeds", content.String()} {
		f := e.add(text)
		for _, span := range []string{"0-0", "1-3", "-2", "2-"} {
			in, err := e.files.Open(t.Context(), f)
			testkit.NoError(t, err)
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.Header.Set("Range", "bytes="+span)
			w := httptest.NewRecorder()
			testkit.NoError(t, file.Send(w, r, in, file.AnyBytes, "attachment", time.Now()))
			testkit.NoError(t, in.Close())
			want := map[string]string{"0-0": text[:1], "1-3": text[1:4], "-2": text[len(text)-2:], "2-": text[2:]}[span]
			if w.Code != 206 || w.Body.String() != want {
				t.Errorf("%s of %d: %d, %d bytes, want %d", span, len(text), w.Code, w.Body.Len(), len(want))
			}
		}
	}
}

// Leftovers are swept, and what rows name stays.
func TestSweepOfDepot(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.use()
	kept := e.add("kept")
	left, err := e.files.Receive(t.Context(), strings.NewReader("left"), 4, nil)
	testkit.NoError(t, err)
	for _, grace := range []time.Duration{time.Hour, -time.Hour} {
		for shard := range int64(256) {
			testkit.NoError(t, e.files.SweepFolder(t.Context(), shard, grace))
			testkit.NoError(t, e.files.SweepShard(t.Context(), shard, grace))
		}
		if want := map[bool]string{true: "away"}[grace > 0]; e.where(left) != want || e.where(kept) != "away" {
			t.Errorf("after %s the leftover is in %q, the file in %q", grace, e.where(left), e.where(kept))
		}
	}
}

// Files move there and back while they are read, with what was stopped before; a damaged one stays, and is said.
func TestMove(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		e := newEstate(t, engine)
		reader := e.node() // a server that knows nothing of the move
		reader.Pin("")
		var list []*file.File
		for n := range 20 {
			list = append(list, e.add(fmt.Sprint("content of ", n)))
		}
		testkit.NoError(t, os.WriteFile(filepath.Join(e.data, file.Path(list[3].Name)), []byte("content of X"), 0o600))
		stopped, stop := context.WithCancel(t.Context())
		_, err := e.node().Move(stopped, file.MoveOptions{To: e.address(), Problem: func(string) {},
			Progress: func(done, _ int64) {
				if done > 0 {
					stop()
				}
			}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a move that was stopped: %v", err)
		}
		moved, err := e.move(e.address())
		if err != nil || moved.Left != 1 {
			t.Errorf("moved %+v, %v", moved, err)
		}
		for n, f := range list {
			want := "away"
			if n == 3 {
				want = "data"
			}
			got, err := e.read(reader, f) // f is what the row said before
			if e.where(f) != want || n != 3 && (err != nil || got != fmt.Sprint("content of ", n)) {
				t.Errorf("%d is in %q, and has %q, %v", n, e.where(f), got, err)
			}
		}
		dbtest.Exec(t, e.d, `DELETE FROM files WHERE name = $1`, list[3].Name)
		if _, err := e.move(""); err != nil {
			t.Error(err)
		}
		for n, f := range list {
			if want := "data"; e.where(f) != want {
				t.Errorf("%d is in %q after the move back", n, e.where(f))
			}
		}
		if _, err := os.Stat(filepath.Join(e.away, "arbor-store.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder still belongs to the store: %v", err)
		}
	})
}

// A server starts only where the files are.
func TestUse(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	other := "file://" + t.TempDir()
	use := func(address, want string) {
		t.Helper()
		_, err := e.node().Use(t.Context(), address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("--objects %q: %v, want %q", address, err, want)
		}
	}
	use("", "")
	e.add("in the data folder")
	use(other, "are in its data folder")
	_, err := e.move(e.address())
	testkit.NoError(t, err)
	use(e.address(), "")
	use("", "use --objects '"+e.address()+"'")
	use(other, "are in "+e.address()+", not in "+other)
	testkit.NoError(t, os.WriteFile(filepath.Join(e.away, "arbor-store.json"), []byte(`{"store":"x"}`), 0o600))
	use(e.address(), "belongs to another store")
	testkit.NoError(t, os.Remove(filepath.Join(e.away, "arbor-store.json")))
	use(e.address(), "holds no arbor-store.json")
}

// While servers run that do not know the new place, nothing moves.
func TestMoveWaitsForServers(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	f := e.add("seeds")
	node, err := e.d.Join(t.Context(), "old", "dev", slog.New(slog.DiscardHandler))
	testkit.NoError(t, err)
	var restart *file.RestartError
	for range 2 {
		if _, err := e.move(e.address()); !errors.As(err, &restart) || restart.Servers != 1 {
			t.Errorf("the move: %v", err)
		}
	}
	if e.where(f) != "data" {
		t.Errorf("the file is in %q", e.where(f))
	}
	testkit.NoError(t, node.Leave(t.Context()))
	again, err := e.d.Join(t.Context(), "new", "dev", slog.New(slog.DiscardHandler))
	testkit.NoError(t, err)
	dbtest.Exec(t, e.d, `UPDATE nodes SET started_at = started_at + 1000000`)
	if moved, err := e.move(e.address()); err != nil || moved.Files != 1 {
		t.Errorf("the move: %+v, %v", moved, err)
	}
	testkit.NoError(t, again.Leave(t.Context()))
}
