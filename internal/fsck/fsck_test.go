package fsck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/issue/deletion"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// look runs a check of a server's store, beside the server.
func look(t *testing.T, s *apitest.Server, o Options) *Report {
	t.Helper()
	o.DB, o.Git, o.Folder, o.Log = s.DB, s.Git, s.Dir, slog.New(slog.DiscardHandler)
	r, err := Run(t.Context(), o)
	testkit.NoError(t, err)
	return r
}

func (r *Report) text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s: %s (repaired %v, warning %v)\n", f.Part, f.Repository, f.Problem,
			f.Repaired, f.Warning)
	}
	return b.String()
}

// Whatever the interface makes is sound, on both engines.
func TestWhatIsMadeIsSound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		build(t, s)
		r := look(t, s, Options{Full: true})
		if !r.Sound() || r.Repositories < 2 || r.Refs < 4 || r.Issues < 2 {
			t.Errorf("%+v\n%s", r, r.text())
		}
	})
}

// A deleted repository is sound while its rows go, though counters say what they were.
func TestWhatIsBeingRemovedIsSound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, _ := apitest.Gated(t, engine)
		w := fixture.New(t, s)
		w.Build(t, "guild", "hidden", true)
		s.Crowd(t, "guild", "hidden")
		id := w.Access(t, "owner", "guild/hidden").ID
		w.OK(t, "owner", "DELETE /repos/guild/hidden", "")
		for n := int64(1); n > 0; {
			if r := look(t, s, Options{Full: true}); !r.Sound() {
				t.Errorf("%+v\n%s", r, r.text())
			}
			err := s.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
				n, err = deletion.RemoveSome(tx, id, 10)
				return err
			})
			testkit.NoError(t, err)
		}
	})
}

func build(t *testing.T, s *apitest.Server) {
	t.Helper()
	w := fixture.New(t, s)
	w.Build(t, "guild", "checked", false)
	w.Build(t, "owner", "hidden", true)
}

func write(t *testing.T, s *apitest.Server, query string, args ...any) {
	t.Helper()
	err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
		n, err := tx.Exec(query, args...)
		if err == nil && n == 0 {
			err = fmt.Errorf("%s changes nothing", query)
		}
		return err
	})
	testkit.NoError(t, err)
}

// Each derived column that is spoilt is found, told, and derived anew; what is right is
// left alone. If this failed, a counter would be wrong for ever.
func TestSpoiltColumnsAreRepaired(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		build(t, s)
		for _, d := range columns {
			name := d.table + "." + d.column
			if d.drop { // only some of its rows are derived, see below
				continue
			}
			spoilt := d.column + " + 1"
			if d.flag {
				spoilt = "NOT " + d.column
			}
			keys := strings.Join(d.keys, ", ")
			write(t, s, fmt.Sprintf(
				`UPDATE %s SET %s = %s WHERE (%s) IN (SELECT %s FROM %s ORDER BY %s LIMIT 1)`,
				d.table, d.column, spoilt, keys, keys, d.table, keys))
			column(t, s, name)
			if d.made {
				write(t, s, `DELETE FROM `+d.table+` WHERE `+d.column+` > 0`)
				column(t, s, name)
			}
		}
		sound(t, s)
	})
}

// The people of a team are its members and those of the teams below it. If this failed, somebody would keep a right,
// or lack it, for ever.
func TestPeopleOfTeamsAreRepaired(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		s.Ask(t, "alice", "PUT /orgs/guild/members/bob", "", 204)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name":"top","privacy":"closed"}`, 201)
		write(t, s, `INSERT INTO teams (org_id, parent_id, name, slug, created_at, updated_at)
			SELECT org_id, id, 'low', 'low', 1, 1 FROM teams`)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/low/memberships/bob", "", 200)
		for _, spoil := range []string{
			`DELETE FROM team_members WHERE role = 1`,
			`UPDATE team_members SET role = 1 WHERE role = 3`,
		} {
			write(t, s, spoil)
			mended(t, s, "team_members.role")
		}
	})
}

// repaired finds a problem that names a text, and repairs it. It gives what was found.
func repaired(t *testing.T, s *apitest.Server, text string) *Report {
	t.Helper()
	found := look(t, s, Options{})
	if found.Sound() || !strings.Contains(found.text(), text) {
		t.Errorf("%s is not found:\n%s", text, found.text())
	}
	if r := look(t, s, Options{Repair: true}); !r.Sound() || !strings.Contains(r.text(), text) {
		t.Errorf("%s is not repaired:\n%s", text, r.text())
	}
	return found
}

// follows are what else is wrong where a derived column is: a part of the problem's text.
var follows = map[string]string{"stars.private": "mark_counts.", "watches.private": "mark_counts.",
	"mark_counts.public": "mark_counts.private", "mark_counts.private": "mark_counts.public",
	"issues.comments": "the index of issues"}

// column is repaired for a derived column, and finds nothing else but what follows: so what was repaired
// before stays so. Where something follows, nothing is found any more.
func column(t *testing.T, s *apitest.Server, name string) {
	t.Helper()
	follows, has := follows[name]
	for _, f := range repaired(t, s, name).Findings {
		if !f.Warning && !strings.Contains(f.Problem, name) &&
			!(has && strings.Contains(f.Problem, follows)) {
			t.Errorf("beside %s there is: %+v", name, f)
		}
	}
	if has {
		sound(t, s)
	}
}

// mended is repaired, and finds nothing any more.
func mended(t *testing.T, s *apitest.Server, text string) {
	t.Helper()
	repaired(t, s, text)
	sound(t, s)
}

// sound finds nothing.
func sound(t *testing.T, s *apitest.Server) {
	t.Helper()
	// Warnings are of the machine: PostgreSQL without amcheck, a disk that is nearly full.
	r := look(t, s, Options{})
	if problems := slices.DeleteFunc(r.Findings, func(f Finding) bool {
		return f.Warning
	}); len(problems) > 0 {
		t.Errorf("this is still there:\n%s", r.text())
	}
}

// The index of issues and that of words are made anew where something lacks.
func TestSpoiltIndexesAreRepaired(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		build(t, s)
		s.Run(t, []apitest.Case{{Do: "GET /search/issues?q=an", Status: 200}}) // which reads all words
		for query, text := range map[string]string{
			`DELETE FROM postings WHERE kind = 5`:                                      "posting_counts.n",
			`UPDATE postings SET updated_at = updated_at + 1`:                          "another state, time",
			`UPDATE issues SET labels = '' WHERE labels <> ''`:                         "the index of issues",
			`DELETE FROM issue_texts`:                                                  "by their words",
			`UPDATE postings SET value = value + 1000000 WHERE kind = 2 AND state = 1`: "the index of issues",
		} {
			write(t, s, query)
			mended(t, s, text)
		}
	})
}

// A folder that git takes for no repository is found, and mended where nothing but its frame
// is missing; that of an empty repository, too. Objects that are gone with it stay gone.
func TestFramesOfFoldersAreMended(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors() // the server may come to a folder while a part of it is missing
		s.User(t, "alice")
		full, empty := s.Repo(t, "alice/full", false), s.Repo(t, "alice/empty", false)
		s.Import(t, full, gittest.Repository(t, 3, 3))
		testkit.NoError(t, s.Objects(t, empty.ID).Init())
		for _, part := range []string{"refs", "HEAD", "config", "objects/info"} {
			for _, r := range []*repo.Repo{full, empty} {
				if part == "HEAD" && r == empty {
					continue // its making was cut short, and the first push goes on with it
				}
				testkit.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(s.ObjectsDir(t, r)), part)))
				if found := look(t, s, Options{Full: true}); !strings.Contains(found.text(),
					r.FullName()+": its folder lacks") ||
					!strings.Contains(found.text(), part) {
					t.Errorf("%s without %s: %s", r.FullName(), part, found.text())
				}
				mended(t, s, part)
			}
		}
		for _, file := range []string{"HEAD", "config"} { // cut short by a full disk
			path := filepath.Join(filepath.Dir(s.ObjectsDir(t, full)), file)
			testkit.NoError(t, os.Truncate(path, 0))
			mended(t, s, file)
		}
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "", "alice/full"), "copy")
		testkit.NoError(t, os.RemoveAll(s.ObjectsDir(t, full)))
		found := look(t, s, Options{Repair: true})
		// A pooled process of git may have the pack open still: then the walk finds that it is gone.
		told := strings.Contains(found.text(), "refs/heads/main leads to ") ||
			strings.Contains(found.text(), "bad object")
		if found.Sound() || !told {
			t.Errorf("objects that are lost: %s", found.text())
		}
	})
}

// What is gone from a repository's folder is found, and --repair does not claim to have
// mended it; neither is a folder removed that nobody knows.
func TestLostObjectsAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors() // the server may come to the lost folder, too
		s.User(t, "alice")
		for name, spoil := range map[string]func(t *testing.T, dir string, id repo.ID) (want string){
			"pack": func(t *testing.T, dir string, _ repo.ID) string {
				each(t, dir, "objects/pack/*", os.Remove)
				return "refs/heads/main leads to "
			},
			"damage": func(t *testing.T, dir string, _ repo.ID) string {
				each(t, dir, "objects/pack/*.pack", func(path string) error {
					data, err := os.ReadFile(path)
					if err != nil {
						return err
					}
					data[len(data)/2] ^= 0x55
					os.Chmod(path, 0o600)
					return os.WriteFile(path, data, 0o600)
				})
				return "exit status"
			},
			"ref": func(t *testing.T, _ string, id repo.ID) string {
				write(t, s, `UPDATE refs SET sha = $1 WHERE repo_id = $2 AND name = 'refs/heads/main'`,
					strings.Repeat("12", 20), id)
				return "refs/heads/main leads to 1212"
			},
			"folder": func(t *testing.T, dir string, _ repo.ID) string {
				testkit.NoError(t, os.RemoveAll(dir))
				return "cannot be used"
			},
		} {
			r := s.Repo(t, "alice/"+name, false)
			s.Import(t, r, gittest.Repository(t, 3, 3))
			if before := look(t, s, Options{Full: true}); strings.Contains(before.text(), "alice/"+name) {
				t.Fatal(before.text())
			}
			want := spoil(t, filepath.Dir(s.ObjectsDir(t, r)), r.ID)
			found := look(t, s, Options{Full: true, Repair: true})
			// A pooled process of git may have the lost pack open still: then the walk finds that it is gone.
			told := strings.Contains(found.text(), want) ||
				name == "pack" && strings.Contains(found.text(), "alice/pack: git rev-list: ") &&
					strings.Contains(found.text(), "bad object")
			if found.Sound() || !strings.Contains(found.text(), "alice/"+name+": ") || !told {
				t.Errorf("%s: %s", name, found.text())
			}
		}
		stray := filepath.Join(s.Dir, "repositories", "01", "of-somebody")
		testkit.NoError(t, os.MkdirAll(stray, 0o700))
		if r := look(t, s, Options{Full: true, Repair: true}); !strings.Contains(r.text(),
			"of-somebody is nothing that Arbor makes") {
			t.Error(r.text())
		}
		if _, err := os.Stat(stray); err != nil {
			t.Error(err)
		}
	})
}

// An asset whose file is lost, cut off or altered is found, and so is a file that nobody knows.
func TestLostFilesAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/releases", As: "alice",
			Send: `{"tag_name": "v1", "draft": true}`, Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/releases/1/assets?name=a", As: "alice",
			Send: "peas", Status: 201})
		if r := look(t, s, Options{Full: true}); strings.Contains(r.text(), "files") {
			t.Fatal(r.text())
		}
		all, _ := filepath.Glob(filepath.Join(s.Dir, "files", "*", "*"))
		path := all[0]
		holds := func(content, full, quick string) {
			t.Helper()
			testkit.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			if r := look(t, s, Options{Full: true}); r.Sound() ||
				!strings.Contains(r.text(), "alice/garden: ") || !strings.Contains(r.text(), full) {
				t.Errorf("%q: %s", content, r.text())
			}
			if r := look(t, s, Options{}); !strings.Contains(r.text(), quick) ||
				quick == "" && strings.Contains(r.text(), filepath.Base(path)) {
				t.Errorf("%q, looked at quickly: %s", content, r.text())
			}
		}
		holds("pea", "has 3 bytes and should have 4", "has 3 bytes")
		holds("pear", "its SHA-256 is another", "")
		testkit.NoError(t, os.Rename(path, path[:len(path)-1]+"x"))
		if r := look(t, s, Options{}); r.Sound() || !strings.Contains(r.text(), "is missing") ||
			!strings.Contains(r.text(), "x is nothing that Arbor makes") {
			t.Error(r.text())
		}
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`DELETE FROM release_assets`) })
		if r := look(t, s, Options{}); err != nil ||
			!strings.Contains(r.text(), "alice/garden: 1 of its files belong to no release, no text and no object") {
			t.Error(r.text(), err)
		}
	})
}

// An object of Git LFS that names another content than it has would give people other bytes than they asked for.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		sum := sha256.Sum256([]byte("large"))
		s.Ask(t, "alice", "PUT /alice/garden.git/info/lfs/objects/"+hex.EncodeToString(sum[:])+"/5", "large", 200)
		if r := look(t, s, Options{Full: true}); !r.Sound() {
			t.Error(r.text())
		}
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE lfs_objects SET oid = $1`, strings.Repeat("0", 64))
		})
		if r := look(t, s, Options{}); err != nil ||
			!strings.Contains(r.text(), "alice/garden: 1 of its objects of Git LFS name another content") {
			t.Error(r.text(), err)
		}
	})
}

func each(t *testing.T, dir, pattern string, do func(path string) error) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	for _, path := range list {
		testkit.NoError(t, do(path))
	}
}
