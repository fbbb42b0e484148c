package maintenance_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// nodes are services with the same database and directory. None of them runs workers.
type nodes struct {
	dir  string
	db   [2]*db.DB
	git  [2]*git.Git
	node [2]*forge.Forge
	log  *lines
}

// newNodes returns two nodes whose clocks differ by hours, and creates the user alice.
func newNodes(t *testing.T, engine db.Engine, o git.Options) *nodes {
	t.Helper()
	data := t.TempDir()
	n := &nodes{dir: forge.RepositoriesDir(data), log: &lines{}}
	address := dbtest.URL(t, engine)
	for i := range n.node {
		off := time.Duration(2*i-1) * 5 * time.Hour
		n.db[i] = dbtest.OpenWith(t, db.Options{URL: address, Now: func() time.Time {
			return time.Now().Add(off)
		}})
		n.git[i] = gittest.New(t, o)
		n.node[i] = forge.New(n.db[i], n.git[i], slog.New(slog.NewTextHandler(n.log, nil)), data)
	}
	_, err := account.New(n.db[0], nil).CreateUser(t.Context(),
		account.NewUser{Login: "alice"})
	testkit.NoError(t, err)
	return n
}

// objects are those of a repository, as the first node sees them.
func (n *nodes) objects(t *testing.T, id repo.ID) *git.Repository {
	t.Helper()
	return apitest.Objects(t, n.node[0].Repos, id)
}

func (n *nodes) create(t *testing.T, name string) *repo.Repo {
	t.Helper()
	r, err := n.node[0].Repos.Create(t.Context(), nil,
		repo.NewRepo{Owner: "alice", Name: name, AutoInit: true})
	testkit.NoError(t, err)
	return r
}

func (n *nodes) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	err := n.db[0].Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	testkit.NoError(t, err)
}

func (n *nodes) count(t *testing.T, query string, args ...any) (count int64) {
	t.Helper()
	err := n.db[1].Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(query, args...).Scan(&count)
	})
	testkit.NoError(t, err)
	return count
}

func (n *nodes) sweep(t *testing.T, grace time.Duration) {
	t.Helper()
	testkit.NoError(t, n.node[1].Maintenance.Sweep(t.Context(), grace))
}

// folders lists the folders of repositories, as "1.git", "gone-1.git".
func (n *nodes) folders(t *testing.T) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(n.dir, "??", "*"))
	testkit.NoError(t, err)
	var names []string
	for _, path := range list {
		name := filepath.Base(path)
		if parts := strings.Split(name, "-"); len(parts) == 3 {
			name = parts[0] + "-" + parts[2]
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// age sets the modification time of all files below a path to a day ago.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-24 * time.Hour)
	err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	testkit.NoError(t, err)
}

// A directory is removed if its id belongs to no repository and is not reserved, if it is old, and then in
// two steps hours apart, both of which check the database. Any other removal would lose acknowledged
// pushes.
func TestSweep(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		reserved, dead := n.objects(t, 1000), n.objects(t, 2000)
		for _, g := range []*git.Repository{reserved, dead} {
			testkit.NoError(t, g.Init())
		}
		n.exec(t, `INSERT INTO reserved_repos (id, at) VALUES (1000, `+engine.Clock()+`)`)
		expect := func(what, want string) {
			t.Helper()
			if got := n.folders(t); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		live := fmt.Sprintf("%d.git", r.ID)
		n.sweep(t, time.Hour)
		expect("young", live+" 2000.git 1000.git")
		age(t, n.dir)
		n.sweep(t, time.Hour)
		expect("old", live+" gone-2000.git 1000.git")
		n.sweep(t, time.Hour)
		expect("just set aside", live+" gone-2000.git 1000.git")
		n.sweep(t, 0)
		expect("set aside long ago", live+" 1000.git")
		n.exec(t, `UPDATE reserved_repos SET at = at - 90000000000`) // 25 hours
		n.sweep(t, time.Hour)
		expect("reserved by somebody who died", live+" gone-1000.git")
		if got := n.log.String(); strings.Contains(got, "level=ERROR") {
			t.Errorf("the log has %s", got)
		}
	})
}

// Each node looks through its own data folder, whichever of them sweeps what they share: what killed pushes and uploads
// left on the others would fill their disks.
func TestEachNodeSweepsItsFolder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		n.exec(t, `INSERT INTO folder_sweep (id, shard, due_at) VALUES (1, 0, `+engine.Clock()+` + 3600000000)`)
		for range 2 { // each with a data folder of its own
			data := t.TempDir()
			node := forge.New(n.db[0], n.git[0], slog.New(slog.NewTextHandler(n.log, nil)), data)
			live := n.git[0].Repository(node.Repos.Path(r.ID, r.Purges))
			dead := n.git[0].Repository(node.Repos.Path(2000, 0))
			testkit.NoError(t, live.Init())
			testkit.NoError(t, dead.Init())
			left := []string{filepath.Join(live.Dir(), "objects", "incoming-1"),
				filepath.Join(live.PacksDir(), "tmp_pack_1"), filepath.Join(data, "files", "ab", ".tmp-1")}
			testkit.NoError(t, os.MkdirAll(filepath.Dir(left[2]), 0o700))
			testkit.NoError(t, os.Mkdir(left[0], 0o700))
			for _, path := range left[1:] {
				testkit.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
			}
			age(t, data)
			testkit.NoError(t, node.Maintenance.Polling(t.Context()))
			for _, path := range left {
				if _, err := os.Stat(path); err != nil {
					t.Errorf("a start removes %s", path)
				}
			}
			testkit.NoError(t, node.Maintenance.Lap(t.Context()))
			for _, path := range append(left, dead.Dir()) {
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Errorf("%s is left (%v)", path, err)
				}
			}
			if !live.OnDisk() {
				t.Error("the folder of a repository is gone")
			}
		}
	})
}

// A start never removes a folder: a node that comes up with the wrong database must not
// empty the data folder of another one.
func TestStartSweepsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		n.create(t, "garden")
		testkit.NoError(t, n.objects(t, 2000).Init())
		age(t, n.dir)
		before := n.folders(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.node[1].Maintenance.Run(ctx) }()
		testkit.Eventually(t, func() bool {
			return n.count(t, `SELECT count(*) FROM folder_sweep`) == 1
		}, "the sweep is scheduled")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if after := n.folders(t); after != before {
			t.Errorf("%s became %s", before, after)
		}
		if due := n.count(t, `SELECT count(*) FROM folder_sweep WHERE due_at <= `+engine.Clock()); due != 0 {
			t.Error("a shard is due at the start")
		}
	})
}

// A database from before a deletion comes back: so does the folder.
func TestSweepGivesBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		path := n.objects(t, r.ID).Dir()
		for _, name := range []string{fmt.Sprintf("gone-1600000000000000-%d.git", r.ID),
			fmt.Sprintf("gone-%d.git", r.ID)} {
			testkit.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), name)))
			n.sweep(t, 0)
			if got, want := n.folders(t), fmt.Sprintf("%d.git", r.ID); got != want {
				t.Errorf("%s became %s", name, got)
			}
		}
	})
}

// Deleting a repository takes its folder away at once, and removes it hours later.
func TestDeletedFolderWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		testkit.NoError(t, n.node[0].Settings.Delete(t.Context(), &repo.Access{Repo: r}))
		gone := fmt.Sprintf("gone-%d.git", r.ID)
		n.sweep(t, time.Hour)
		if got := n.folders(t); got != gone {
			t.Errorf("%s, want %s", got, gone)
		}
		n.sweep(t, 0)
		if got := n.folders(t); got != "" {
			t.Errorf("%s is left", got)
		}
	})
}
