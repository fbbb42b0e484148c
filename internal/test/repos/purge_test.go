package repos_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
	"arbor/internal/repo/purge"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// operator is the command line of a running server: it shares the database and directories, but no caches.
func operator(t *testing.T, s *apitest.Server) (*repo.Service, *purge.Service) {
	t.Helper()
	g := gittest.New(t, git.Options{PackGrace: 50 * time.Millisecond})
	repos := forge.New(s.DB, g, slog.New(slog.DiscardHandler), s.Dir).Repos
	return repos, purge.New(s.DB, g, repos)
}

func tryPurge(t *testing.T, s *apitest.Server, name string, o purge.Options) (*purge.Report, error) {
	t.Helper()
	repos, purges := operator(t, s)
	owner, short, _ := strings.Cut(name, "/")
	found, err := repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, owner, short)
	testkit.NoError(t, err)
	return purges.Purge(t.Context(), &found.Access, o)
}

func mustPurge(t *testing.T, s *apitest.Server, name string, o purge.Options) *purge.Report {
	t.Helper()
	report, err := tryPurge(t, s, name, o)
	testkit.NoError(t, err)
	return report
}

// purgeSecret is the text of a file that is purged.
var purgeSecret = strings.Repeat("the first key is 1234567890\n", 40)

// purgePast is a repository in which a secret was, and the objects of that.
type purgePast struct {
	dir string // a clone that has all of it

	commit, tree, blob string // that no ref leads to any more
	tip                string
}

// leaked creates alice/garden, to whose main will pushed a secret and then replaced it.
func leaked(t *testing.T, s *apitest.Server) *purgePast {
	t.Helper()
	s.Users(t, "alice", "will", "rae")
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "will", account.Push)
	p := &purgePast{dir: filepath.Join(t.TempDir(), "clone")}
	s.Import(t, r, gittest.Repository(t, 3, 4))
	gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "will", "alice/garden"), p.dir)
	base := gittest.Run(t, p.dir, "rev-parse", "HEAD")
	p.commit, p.tree, p.blob = gittest.CommitFile(t, p.dir, "secret.txt", purgeSecret)
	gittest.Run(t, p.dir, "push", "-q", "origin", "main")
	gittest.Run(t, p.dir, "checkout", "-q", "-B", "main", base)
	p.tip, _, _ = gittest.CommitFile(t, p.dir, "open.txt", "nothing to hide\n")
	return p
}

// push replaces main.
func (p *purgePast) replace(t *testing.T) {
	t.Helper()
	gittest.Run(t, p.dir, "push", "-q", "--force", "origin", "main")
}

// asks are all ways to the secret by name.
func (p *purgePast) asks(status int) (list []apitest.Case) {
	for _, path := range []string{"git/commits/" + p.commit, "git/trees/" + p.tree, "git/blobs/" + p.blob,
		"git/trees/" + p.commit + "?recursive=1", "contents/secret.txt?ref=" + p.commit,
		"compare/" + p.tip + "..." + p.commit} {
		list = append(list, apitest.Case{Do: "GET /repos/alice/garden/" + path, As: "will", Status: status})
	}
	list = append(list, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + p.blob, As: "will",
		Status:  status,
		Headers: map[string]string{"Accept": "application/vnd.github.raw+json"}})
	one := status
	if one == 404 {
		one = 422
	}
	list = append(list, apitest.Case{Do: "GET /repos/alice/garden/commits/" + p.commit, As: "will",
		Status: one})
	tar := status
	if tar == 200 {
		tar = 302
	}
	return append(list, apitest.Case{Do: "GET /repos/alice/garden/tarball/" + p.commit, As: "will",
		Status: tar})
}

// fetchable reports whether git gets a commit by its name.
func fetchable(t *testing.T, s *apitest.Server, as, sha string) bool {
	t.Helper()
	dir := gittest.Bare(t)
	// unasked: the repository is public
	who := base64.StdEncoding.EncodeToString([]byte(as + ":" + s.Token(t, as)))
	_, _, err := gittest.Try(t, dir, nil, "-c", "http.extraHeader=Authorization: Basic "+who,
		"fetch", "-q", s.Remote(t, "", "alice/garden"), sha)
	return err == nil
}

// stored lists which folders below the data folder hold an object.
func stored(t *testing.T, s *apitest.Server, sha string) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "objects" {
			cmd := exec.Command("git", "--git-dir", filepath.Dir(path), "cat-file", "-e", sha)
			if cmd.Run() == nil {
				dirs = append(dirs, filepath.Dir(path))
			}
			return fs.SkipDir
		}
		return err
	})
	testkit.NoError(t, err)
	return dirs
}

// A purged secret is gone for everyone immediately, although the running server has it in all caches.
// Everything else stays.
func TestPurgedSecretIsGone(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"commit", "short", "blob", "unreachable"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				p := leaked(t, s)
				p.replace(t)
				const other = "268e497308890560f0766fc040010f84b553e338"
				s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "will",
					Send: `{"content": "noted"}`, Status: 201, Want: `{"sha": "` + other + `"}`})
				for range 2 { // the second time from caches
					s.Run(t, p.asks(200))
				}
				if !fetchable(t, s, "will", p.commit) {
					t.Fatal("the secret was gone before")
				}
				o := purge.Options{Object: map[string]string{"commit": p.commit, "short": p.commit[:9],
					"blob": p.blob}[way]}
				if o.DryRun = true; mustPurge(t, s, "alice/garden", o).Repos[0].Objects == 0 ||
					len(stored(t, s, p.blob)) != 1 {
					t.Error("a dry run did something, or nothing")
				}
				o.DryRun = false
				report := mustPurge(t, s, "alice/garden", o)
				if r := report.Repos[0]; r.Objects < 3 || len(r.Left) > 0 ||
					way != "unreachable" && r.Objects != 3 {
					t.Errorf("%+v", r)
				}
				s.Run(t, p.asks(404))
				if fetchable(t, s, "will", p.commit) {
					t.Error("git still fetches it")
				}
				if dirs := stored(t, s, p.blob); len(dirs) > 0 {
					t.Errorf("%v hold the secret", dirs)
				}
				kept := 200
				if way == "unreachable" {
					kept = 404
				}
				s.Run(t, []apitest.Case{
					{Do: "GET /repos/alice/garden/git/blobs/" + other, As: "will", Status: kept},
					{Do: "GET /repos/alice/garden/contents/open.txt", As: "rae", Status: 200},
				})
				gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "rae", "alice/garden"), "copy")
				// The repository goes on, and takes the secret if it is pushed again.
				gittest.Run(t, p.dir, "checkout", "-q", "-b", "again", p.commit)
				gittest.CommitFile(t, p.dir, "more.txt", "more\n")
				gittest.Run(t, p.dir, "push", "-q", "origin", "again")
				s.Run(t, p.asks(200))
				_, err := tryPurge(t, s, "alice/garden", purge.Options{Object: strings.Repeat("1", 40)})
				if !errs.Is(err, errs.NotFound) {
					t.Errorf("an object that is not there: %v", err)
				}
			})
		})
	}
}

// What a ref or a pull request leads to is not purged, and each of them is named.
func TestPurgeIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		refused := func(object string, want ...string) {
			t.Helper()
			_, err := tryPurge(t, s, "alice/garden", purge.Options{Object: object})
			var why *purge.Refused
			if !errors.As(err, &why) || len(why.Reasons) != len(want) {
				t.Fatalf("%v, want %v", err, want)
			}
			for i := range want {
				if !strings.Contains(why.Reasons[i], want[i]) {
					t.Errorf("%q does not tell of %q", why.Reasons[i], want[i])
				}
			}
			if len(stored(t, s, p.blob)) == 0 {
				t.Fatal("it is gone all the same")
			}
		}
		refused(p.commit, "branch main leads to commit "+p.commit)
		refused(p.blob, "branch main leads to blob")
		gittest.Run(t, p.dir, "tag", "-a", "-m", "x", "v1", p.commit)
		gittest.Run(t, p.dir, "push", "-q", "origin", "v1")
		gittest.Run(t, p.dir, "push", "-q", "origin", p.commit+":refs/notes/x")
		refused(p.tree, "branch main", "refs/notes/x", "tag v1")
		gittest.Run(t, p.dir, "push", "-q", "origin", ":v1", ":refs/notes/x")
		p.replace(t)

		// A pull request from a fork, open and closed.
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "rae", Status: 202})
		gittest.Run(t, p.dir, "checkout", "-q", "-B", "topic", "main")
		gittest.CommitFile(t, p.dir, "secret.txt", purgeSecret)
		gittest.Run(t, p.dir, "push", "-q", s.Remote(t, "rae", "rae/garden"), "topic")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "rae",
			Send: `{"title": "T", "head": "rae:topic", "base": "main"}`, Status: 201})
		refused(p.blob, "head of pull request #1", "test merge of pull request #1")
		s.Ask(t, "rae", "PATCH /repos/alice/garden/pulls/1", `{"state": "closed"}`, 200)
		refused(p.blob, "head of pull request #1", "test merge of pull request #1")
		_, err := tryPurge(t, s, "alice/garden", purge.Options{Object: p.blob, Network: true})
		var why *purge.Refused
		if !errors.As(err, &why) || !slices.ContainsFunc(why.Reasons,
			func(r string) bool { return strings.HasPrefix(r, "rae/garden: branch topic") }) {
			t.Errorf("the fork's branch is not named: %v", err)
		}
	})
}

// Forks share files with their parent: they are named, and purged when asked.
func TestPurgeOfForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		p.replace(t)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "rae", Status: 202})
		report := mustPurge(t, s, "alice/garden", purge.Options{Object: p.commit})
		if !slices.Equal(report.Forks, []string{"rae/garden"}) || len(stored(t, s, p.blob)) != 1 {
			t.Errorf("%+v, %v", report, stored(t, s, p.blob))
		}
		report = mustPurge(t, s, "alice/garden", purge.Options{Object: p.commit, Network: true})
		if len(report.Forks) != 0 || len(report.Repos) != 2 || report.Repos[1].Objects != 3 ||
			len(stored(t, s, p.blob)) != 0 {
			t.Errorf("%+v, %v", report, stored(t, s, p.blob))
		}
		s.Check(t, apitest.Case{Do: "GET /repos/rae/garden/contents/README.md", Status: 404})
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "rae", "rae/garden"), "copy")
	})
}

// Comments and builds hold parts of what goes, or describe it.
func TestPurgeTakesHunksAndStatuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		p.replace(t)
		gittest.Run(t, p.dir, "checkout", "-q", "-B", "topic", "main")
		leak, _, _ := gittest.CommitFile(t, p.dir, "secret.txt", purgeSecret)
		gittest.Run(t, p.dir, "push", "-q", "origin", "topic")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/garden/pulls", As: "will",
				Send: `{"title": "T", "head": "topic", "base": "main"}`, Status: 201},
			{Do: "POST /repos/alice/garden/pulls/1/comments", As: "alice", Status: 201,
				Send: `{"body": "What?", "commit_id": "` + leak +
					`", "path": "secret.txt", "line": 2, "side": "RIGHT"}`},
			{Do: "POST /repos/alice/garden/statuses/" + leak, As: "will", Send: `{"state": "success"}`,
				Status: 201},
			{Do: "GET /repos/alice/garden/pulls/1/comments", Status: 200,
				Want: `[{"diff_hunk": "$any", "line": 2}]`},
		})
		gittest.Run(t, p.dir, "checkout", "-q", "-B", "topic", "main")
		gittest.CommitFile(t, p.dir, "clean.txt", "clean\n")
		gittest.Run(t, p.dir, "push", "-q", "--force", "origin", "topic")
		report := mustPurge(t, s, "alice/garden", purge.Options{Object: leak})
		if r := report.Repos[0]; r.Hunks != 1 || r.Statuses != 1 {
			t.Errorf("%+v", r)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/pulls/1/comments", Status: 200,
				Want: `[{"body": "What?", "diff_hunk": "", "line": null, "position": null}]`},
			{Do: "GET /repos/alice/garden/commits/" + leak + "/statuses", As: "will", Status: 422},
			{Do: "GET /repos/alice/garden/pulls/1", Status: 200, Want: `{"mergeable": true}`},
			{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "will", Send: `{}`, Status: 200},
		})
	})
}

// A push that relied on what was purged while it arrived is refused, and leaves nothing. The
// same push later is refused because objects are missing, or brings them.
func TestPurgeMeetsPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		p.replace(t)
		tip := gittest.Run(t, p.dir, "commit-tree", "-p", p.commit, "-m", "on it", p.tree)
		pack := gittest.Pipe(t, p.dir, strings.NewReader(tip+"\n"), "pack-objects", "-q", "--stdout")
		end := beginPush(t, s, "will", "alice/garden", "refs/heads/on", tip, pack)
		mustPurge(t, s, "alice/garden", purge.Options{Object: p.commit})
		if got := end(); !strings.Contains(got,
			"ng refs/heads/on objects of the repository were purged") &&
			!strings.Contains(got, "missing necessary objects") && !strings.Contains(got, "unpack") {
			t.Errorf("the push got %q", got)
		}
		if len(stored(t, s, p.blob)) > 0 {
			t.Error("the push kept the secret")
		}
		gittest.Run(t, p.dir, "push", "-q", "origin", tip+":refs/heads/on") // it brings the secret
		s.Run(t, p.asks(200))
	})
}

// Readers and writers of all kinds continue during repeated purges: no fetch breaks, no acknowledged write
// is lost, and the repository is intact at the end. Retried writes are not logged as errors.
func TestPurgeMeetsTraffic(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		p.replace(t)
		stop := make(chan struct{})
		var all sync.WaitGroup
		begin := func(fn func(n int)) {
			all.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
						fn(n)
					}
				}
			})
		}
		dir := t.TempDir()
		begin(func(n int) {
			to := filepath.Join(dir, "clone")
			if _, text, err := gittest.Try(t, dir, nil, "clone", "-q", "--bare", "--single-branch",
				s.Remote(t, "rae", "alice/garden"), to); err != nil {
				t.Errorf("clone: %s", text)
			}
			os.RemoveAll(to)
		})
		var files []string
		begin(func(n int) {
			name := "f" + strings.Repeat("x", n%40)
			a := s.Do(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "will",
				Send: `{"ref": "refs/heads/` + name + `", "sha": "` + p.tip + `"}`})
			if a.Status == 201 {
				a = s.Do(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + name, As: "will",
					Send: `{"message": "x", "content": "eA==", "branch": "` + name + `"}`})
				if a.Status == 201 {
					files = append(files, name)
				}
			}
		})
		for round := range 4 {
			gittest.Run(t, p.dir, "push", "-q", "--force", "origin", p.commit+":refs/heads/leak")
			gittest.Run(t, p.dir, "push", "-q", "origin", ":leak")
			var o purge.Options
			if o.Object = p.commit; round%2 == 0 {
				o.Object = ""
			}
			_, err := tryPurge(t, s, "alice/garden", o)
			if errs.Is(err, errs.Conflict) {
				t.Log(err)
			} else if err != nil {
				t.Error(err)
			}
		}
		close(stop)
		all.Wait()
		if len(files) == 0 {
			t.Error("nothing was written meanwhile")
		}
		for _, name := range files {
			s.Ask(t, "", "GET /repos/alice/garden/contents/"+name+"?ref="+name, "", 200)
		}
		mustPurge(t, s, "alice/garden", purge.Options{})
		if dirs := stored(t, s, p.blob); len(dirs) > 0 {
			t.Errorf("%v hold the secret", dirs)
		}
		found, _ := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "*"))
		if len(found) != 1 {
			t.Errorf("folders: %v", found)
		}
		var out bytes.Buffer
		cmd := exec.Command("git", "--git-dir", found[0], "fsck", "--full", "--connectivity-only")
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %s", err, &out)
		}
	})
}

// A purge is refused while a backup runs. Two purges of one repository come one after the
// other. Maintenance under way ends in the old folder, and goes on in the new one.
func TestPurgeMeetsOthers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		p.replace(t)
		err := repo.HoldFolders(t.Context(), s.DB, "/there", func(context.Context) (time.Time, error) {
			_, err := tryPurge(t, s, "alice/garden", purge.Options{Object: p.commit})
			if !errs.Is(err, errs.Conflict) || len(stored(t, s, p.blob)) == 0 {
				t.Errorf("beside a backup: %v", err)
			}
			return time.Now(), nil
		})
		testkit.NoError(t, err)
		var all sync.WaitGroup
		results := make([]error, 3)
		for i := range results {
			all.Go(func() { _, results[i] = tryPurge(t, s, "alice/garden", purge.Options{Object: p.commit}) })
		}
		all.Go(func() {
			objects, release, err := s.Repos.GitOf(t.Context(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			objects.Pack(t.Context()) // its error is about a directory that was removed
		})
		all.Wait()
		done := 0
		for _, err := range results {
			if err == nil {
				done++
			} else if !errs.Is(err, errs.NotFound) {
				t.Error(err)
			}
		}
		if done == 0 || len(stored(t, s, p.blob)) > 0 {
			t.Errorf("%v", results)
		}
		report := mustPurge(t, s, "alice/garden", purge.Options{})
		if len(report.Backups) != 1 || report.Backups[0].Place != "/there" {
			t.Errorf("backups: %+v", report.Backups)
		}
		s.Ask(t, "will", "PUT /repos/alice/garden/contents/new", `{"message": "x", "content": "eA=="}`, 201)
	})
}

// A fetch that began before the purge completes, and the purge waits for it before it removes the old
// directory, which no one else can see.
func TestPurgeWaitsForFetches(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := leaked(t, s)
		gittest.Run(t, p.dir, "config", "core.compression", "0") // noise does not compress
		for n := range 16 {                                      // more than pipes and sockets hold
			text := make([]byte, 1<<20)
			rand.Read(text)
			gittest.WriteFile(t, p.dir, fmt.Sprintf("large%d", n), string(text))
		}
		gittest.Run(t, p.dir, "add", ".")
		gittest.Run(t, p.dir, "commit", "-q", "-m", "large")
		p.tip = gittest.Run(t, p.dir, "rev-parse", "HEAD")
		p.replace(t)
		body := strings.NewReader(string(wire.AppendPkt(nil, []byte("want "+p.tip+"\n"))) + wire.FlushPkt +
			string(wire.AppendPkt(nil, []byte("done\n"))))
		answer, err := http.Post(s.URL+"/alice/garden.git/git-upload-pack",
			"application/x-git-upload-pack-request", body)
		testkit.NoError(t, err)
		defer answer.Body.Close()
		var begun [1 << 10]byte
		if _, err := io.ReadFull(answer.Body, begun[:]); err != nil {
			t.Fatal(err)
		}
		waits, ended := make(chan string, 10), make(chan error, 1)
		go func() {
			_, err := tryPurge(t, s, "alice/garden", purge.Options{Object: p.commit,
				Tell: func(line string) { waits <- line }})
			ended <- err
		}()
		pack := bytes.NewBuffer(begun[:])
		for waited := false; !waited; {
			select {
			case line := <-waits:
				if waited = true; !strings.Contains(line, "is in use by fetches") {
					t.Error(line)
				}
			case err := <-ended:
				t.Fatalf("it did not wait: %v", err)
			case <-time.After(100 * time.Millisecond): // slowly: the server ends a fetch that does not go on
				_, err := io.CopyN(pack, answer.Body, 32<<10)
				testkit.NoError(t, err)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/blobs/" + p.blob, As: "will", Status: 404})
		_, err = io.Copy(pack, answer.Body)
		testkit.NoError(t, err)
		into := gittest.Bare(t)
		gittest.Pipe(t, into, bytes.NewReader(pack.Bytes()[bytes.Index(pack.Bytes(), []byte("PACK")):]),
			"index-pack", "--stdin")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if dirs := stored(t, s, p.blob); len(dirs) > 0 {
			t.Errorf("%v hold the secret", dirs)
		}
	})
}
