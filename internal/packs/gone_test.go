package packs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// noted holds how many files are noted as gone, and how many are not.
func (p pair) noted(t *testing.T, when string, gone, kept int64) {
	t.Helper()
	isGone := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`)
	isKept := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NULL`)
	if isGone != gone || isKept != kept {
		t.Errorf("%s: %d files are gone and %d are not, want %d and %d", when, isGone, isKept, gone, kept)
	}
}

// during runs other while a transaction of PostgreSQL is open that did something, until other waits for a lock or is
// done. Its error comes when it has ended.
func (p pair) during(t *testing.T, do func(*db.Tx) error, other func() error) error {
	t.Helper()
	var ended chan error
	dbtest.MustWrite(t, p.a.DB, func(tx *db.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if err := tx.Flush(); err != nil {
			return err
		}
		if ended == nil {
			ended = make(chan error, 1)
			go func() { ended <- other() }()
		}
		testkit.Eventually(t, func() bool {
			return len(ended) == 1 || dbtest.Number(t, p.b.DB, `SELECT COUNT(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		}, "the other transaction waits, or is done")
		return nil
	})
	return <-ended
}

// The last two folders that have a file give it up in two transactions at once: the file is noted as gone. Otherwise
// nobody would ever remove it.
func TestLastTwoFoldersAtOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t, db.PostgreSQL)
	p.garden(t)
	p.lease(t)
	fork := repo.Folder{ID: 900}
	testkit.NoError(t, p.a.Forge.Packs.Share(t.Context(), 1, fork))
	names := dbtest.Column[string](t, p.a.DB, `SELECT name FROM packs WHERE repo_id = 1`)
	p.noted(t, "before", 0, int64(len(names)))
	testkit.NoError(t, p.during(t, func(tx *db.Tx) error {
		return packs.RemovePacks(tx, repo.Folder{ID: 1}, names)
	}, func() error { return p.b.Forge.Packs.Forget(t.Context(), fork, false) }))
	p.noted(t, "afterwards", int64(len(names)), 0)
}

// While a fork gets the packs of its parent, nobody notes that one of them is gone.
func TestShareWhileReplaced(t *testing.T) {
	t.Parallel()
	p := newPair(t, db.PostgreSQL)
	p.garden(t)
	p.lease(t)
	names := dbtest.Column[string](t, p.a.DB, `SELECT name FROM packs WHERE repo_id = 1`)
	_ = p.during(t, func(tx *db.Tx) error {
		if err := tx.Run(`UPDATE repos SET packs = packs + 1 WHERE id = 1`); err != nil { // as Replace begins
			return err
		}
		return packs.RemovePacks(tx, repo.Folder{ID: 1}, names[:1])
	}, func() error { return p.b.Forge.Packs.Share(t.Context(), 1, repo.Folder{ID: 900}) }) // with one pack it fails
	if n := p.count(t, `SELECT COUNT(*) FROM pack_files f JOIN packs p ON p.file_id = f.id WHERE f.gone_at > 0`); n != 0 {
		t.Errorf("%d files are noted as gone and a folder has them", n)
	}
}

// The sweep notes since when no folder has a file, where that was not noted, and takes the note off one that a folder
// has.
func TestSweepMendsNotes(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		p.lease(t)
		had := p.count(t, `SELECT COUNT(*) FROM pack_files`)
		dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1, gone_repo = 7`)
		dbtest.Exec(t, p.a.DB, `INSERT INTO pack_files (key_name, depot_id, pack_size, reverse_size, index_size, sha256)
			VALUES ('left', 0, 1, 1, 1, '')`)
		p.noted(t, "before", had, 1)
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 0, 0))
		p.noted(t, "swept", 1, had)
		if n := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE key_name = 'left' AND gone_at > 1`); n != 1 {
			t.Error("the time since when a file is gone is not that of the sweep")
		}
		dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1 WHERE gone_at IS NOT NULL`)
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 1, 0))
		p.noted(t, "after the time of grace", 0, had)
	})
}

// forgotten waits until the packs of deleted repositories are forgotten.
func (p pair) forgotten(t *testing.T, repos int64) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		p.hasten(t)
		return p.count(t, `SELECT COUNT(DISTINCT repo_id) FROM packs`) == repos
	}, "the packs of deleted repositories are forgotten")
}

// hasten makes deleted repositories due whose removal was put off, for 5 minutes or longer. A worker keeps its lease, of
// a minute.
func (p pair) hasten(t *testing.T) {
	t.Helper()
	dbtest.Exec(t, p.a.DB, `UPDATE discarded SET due_at = 0 WHERE due_at > $1`, time.Now().Add(2*time.Minute).UnixMicro())
}

// holds compares how many packs are in the depot.
func (p pair) holds(t *testing.T, when string, want int) {
	t.Helper()
	if there := p.objects(t); len(there) != want {
		t.Errorf("%s: in the depot are %d packs, want %d: %v", when, len(there), want, there)
	}
}

// secret makes a repository from which a branch with a large file was deleted, after forks were made of it.
func (p pair) secret(t *testing.T, fork func()) {
	t.Helper()
	p.garden(t)
	p.lease(t)
	mustPush(t, p.a, "secret", 200)
	fork()
	p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/git/refs/heads/secret", As: "alice", Status: 204})
}

// What a repository shared with a fork goes at once with a purge, also if a fork had it last that was deleted since, or
// was never made. A fork that is being made, or is there, keeps it.
func TestPurgeOfWhatForksHad(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		failed, running := repo.Folder{ID: 900}, repo.Folder{ID: 901}
		p.secret(t, func() {
			p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
			dbtest.Exec(t, p.a.DB, `INSERT INTO reserved_repos (id, at) VALUES (901, `+engine.Clock()+`)`)
			for _, f := range []repo.Folder{failed, running} {
				testkit.NoError(t, p.a.Forge.Packs.Share(t.Context(), 1, f))
			}
		})
		testkit.NoError(t, p.purge(t))
		p.holds(t, "with a fork", 1)
		if n := p.count(t, `SELECT COUNT(*) FROM packs WHERE repo_id = 900`); n != 0 {
			t.Errorf("a fork that failed has %d packs", n)
		}
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/bob/garden", As: "bob", Status: 204})
		p.forgotten(t, 2)
		testkit.NoError(t, p.purge(t))
		p.holds(t, "while a fork is made", 1)
		dbtest.Exec(t, p.a.DB, `DELETE FROM reserved_repos`)
		testkit.NoError(t, p.a.Forge.Packs.Forget(t.Context(), running, false))
		p.holds(t, "before the purge", 1)
		testkit.NoError(t, p.purge(t))
		p.holds(t, "after the purge", 0)
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/README.md", Status: 200})
	})
}

// A purge of an object, said again after a fork that had it was deleted, removes the object from the depot although the
// repository does not have it any longer. After that nobody has it.
func TestPurgeOfAnObjectAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		secret := ""
		p.secret(t, func() {
			secret = tip(t, p.a, "secret")
			p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
		})
		testkit.NoError(t, p.purgeObject(t, secret))
		p.holds(t, "with the fork", 1)
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/bob/garden", As: "bob", Status: 204})
		p.forgotten(t, 1)
		testkit.NoError(t, p.purgeObject(t, secret))
		p.holds(t, "after the second purge", 0)
		if err := p.purgeObject(t, secret); !errs.Is(err, errs.NotFound) {
			t.Errorf("a third purge: %v", err)
		}
	})
}

// A depot that removes nothing keeps nothing from leaving another place.
func TestSweepBesideADepotThatRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		p.forgotten(t, 0)
		gone := func() int64 { return p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`) }
		before := gone()
		dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1 WHERE gone_at IS NOT NULL`)
		object := p.objects(t)[0]
		testkit.NoError(t, errors.Join(os.Rename(object, p.depot+"-pack"), os.MkdirAll(filepath.Join(object, "full"), 0o700)))
		if err := p.a.Forge.Packs.SweepShard(t.Context(), 1, 0); err == nil {
			t.Error("the sweep does not say that the depot refuses")
		}
		if n := gone(); before < 2 || n != 1 {
			t.Errorf("of %d files %d are left, want the one in the depot", before, n)
		}
		testkit.NoError(t, errors.Join(os.RemoveAll(object), os.Rename(p.depot+"-pack", object)))
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 1, 0))
		if n := gone(); n != 0 {
			t.Errorf("%d files are left with the depot", n)
		}
	})
}

// The copies that a deleted private fork had go at once with a purge of its parent.
func TestPurgeOfWhatPrivateForksHad(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.secret(t, func() {
			p.a.Org(t, "club", "alice")
			p.a.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200})
			p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "alice", Send: `{"organization": "club"}`,
				Status: 202})
		})
		testkit.NoError(t, p.purge(t))
		p.holds(t, "with the fork", 1)
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/club/garden", As: "alice", Status: 204})
		p.forgotten(t, 1)
		p.holds(t, "without it", 1)
		testkit.NoError(t, p.purge(t))
		p.holds(t, "after the purge", 0)
	})
}

// A purge during which the depot is away fails, and the next one removes what it left.
func TestPurgeWithoutDepot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.secret(t, func() {})
		testkit.NoError(t, os.Rename(p.depot, p.depot+"-away"))
		if err := p.purge(t); err == nil {
			t.Error("without the depot the purge succeeds")
		}
		testkit.NoError(t, os.Rename(p.depot+"-away", p.depot))
		p.holds(t, "after the first purge", 1)
		testkit.NoError(t, p.purge(t))
		p.holds(t, "after the second purge", 0)
		if n := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`); n != 0 {
			t.Errorf("%d files are noted as gone", n)
		}
	})
}

// usedKB returns what counts in a user's quota.
func (p pair) usedKB(t *testing.T, login string) int64 {
	t.Helper()
	_, _, u, err := p.a.Accounts.EditQuota(t.Context(), nil, account.User, login, func(*account.Quota) {})
	testkit.NoError(t, err)
	return u.KB
}

// The packs of a deleted repository count for its owner until they have left the depot. What fork and parent share
// counts for the one that is left.
func TestQuotaOfPacksThatStay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		p.lease(t)
		mustPush(t, p.a, "large", 200)
		p.a.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202})
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		p.forgotten(t, 1)
		testkit.Eventually(t, func() bool { return p.usedKB(t, "alice") < 10 }, "what the fork has does not count for alice")
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/bob/garden", As: "bob", Status: 204})
		p.forgotten(t, 0)
		if n := p.usedKB(t, "bob"); n < 200 {
			t.Errorf("%d KiB count while the packs are in the depot", n)
		}
		dbtest.Exec(t, p.a.DB, `UPDATE pack_files SET gone_at = 1 WHERE gone_at IS NOT NULL`)
		testkit.NoError(t, p.a.Forge.Packs.SweepShard(t.Context(), 1, 0))
		p.holds(t, "after the sweep", 0)
		testkit.Eventually(t, func() bool {
			p.hasten(t)
			return p.usedKB(t, "bob") == 0
		}, "nothing counts after the sweep")
	})
}

// Who removes a deleted repository removes its packs from the depot at once.
func TestRemovedAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		p.lease(t)
		mustPush(t, p.a, "large", 200)
		p.a.Server.Forge().Deleted.For = time.Hour
		p.a.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204})
		testkit.NoError(t, p.a.Server.Forge().Deleted.Remove(t.Context(), nil, 1))
		p.forgotten(t, 0)
		testkit.Eventually(t, func() bool { return len(p.objects(t)) == 0 }, "the packs have left the depot")
		testkit.Eventually(t, func() bool { return p.usedKB(t, "alice") == 0 }, "nothing counts")
	})
}

// A fork that is refused for its name, or for the quota of its owner, copies nothing; and what one copied that fails at
// the end leaves the depot at once.
func TestForkThatFails(t *testing.T) {
	t.Parallel()
	p := newPair(t, db.SQLite)
	p.secret(t, func() {
		p.a.Org(t, "club", "alice")
		p.a.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200})
	})
	fork := apitest.Case{Do: "POST /repos/alice/garden/forks", As: "alice", Send: `{"organization": "club", "name": "x"}`}
	p.a.Check(t, apitest.Case{Do: "POST /orgs/club/repos", As: "alice", Send: `{"name": "x"}`, Status: 201})
	dbtest.Exec(t, p.a.DB, `CREATE TABLE had (id BIGINT)`)
	dbtest.Exec(t, p.a.DB, `CREATE TRIGGER count_packs AFTER INSERT ON packs BEGIN INSERT INTO had VALUES (NEW.repo_id); END`)
	fork.Status = 422
	p.a.Check(t, fork)
	dbtest.Exec(t, p.a.DB, `INSERT INTO files (id, repo_id, name, size, sha256, created_at)
		VALUES (900, 1, 'f', 1048576, '', 1)`)
	dbtest.Exec(t, p.a.DB, `INSERT INTO lfs_objects (repo_id, file_id, oid, size) VALUES (1, 900, 'o', 1048576)`)
	_, _, _, err := p.a.Accounts.EditQuota(t.Context(), nil, account.Organization, "club", func(q *account.Quota) {
		kb := int64(1000)
		q.KB = &kb
	})
	testkit.NoError(t, err)
	fork.Send, fork.Status = `{"organization": "club"}`, 403
	p.a.Check(t, fork)
	if n := p.count(t, `SELECT COUNT(*) FROM had`); n != 0 {
		t.Errorf("forks that were refused copied %d packs", n)
	}
	dbtest.Exec(t, p.a.DB, `DELETE FROM lfs_objects`)
	dbtest.Exec(t, p.a.DB, `CREATE TRIGGER refuse BEFORE UPDATE OF forks_count ON repos
		BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	p.a.Log.AllowErrors()
	fork.Status = 500
	p.a.Check(t, fork)
	if n := p.count(t, `SELECT COUNT(*) FROM had`); n == 0 {
		t.Error("the fork copied nothing: that shows nothing")
	}
	if n := p.count(t, `SELECT COUNT(*) FROM packs WHERE repo_id <> 1`); n != 0 {
		t.Errorf("the fork that failed keeps %d packs", n)
	}
	if n := p.count(t, `SELECT COUNT(*) FROM pack_files WHERE gone_at IS NOT NULL`); n != 0 {
		t.Errorf("%d files of it are there", n)
	}
}
