//go:build long && linux

package load

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/gittest"
)

// Bounds of what honest callers wait for.
const (
	requestBound   = 2 * time.Second
	anonymousBound = 5 * time.Second
	transferBound  = 10 * time.Second
)

// honest is somebody who works, one step after the other.
type honest struct {
	login string // "": without an account
	call  *caller
	steps []step
	turn  int               // how often the steps were taken
	kept  map[string]string // what answers brought, for later steps
	made  int               // issues and pull requests
}

// step is one thing that a person does, which must succeed within its bound.
type step struct {
	name  string
	bound time.Duration
	equal bool // it competes with attackers on equal terms, and half of the tries may be refused
	do    func(ctx context.Context, h *honest) error
}

// honestCallers are the people at work: two by requests, one who moves much, and one without an account.
func honestCallers(w *world) []*honest {
	person := func(login string, steps ...step) *honest {
		return &honest{login, newCaller(w, "127.0.0.1", w.tokens[login]), steps, 0, map[string]string{}, 0}
	}
	return []*honest{
		person("alice", work()...), person("bob", work()...), person("carol", transfers(w)...),
		person("", visits(w)...),
	}
}

// work takes the steps once or, with again, until ctx is done.
func (h *honest) work(ctx context.Context, seen *tally, again bool) {
	for ; ctx.Err() == nil; h.turn++ {
		for _, s := range h.steps {
			// A step that is begun goes on to its end, so that its outcome is known.
			limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 60*time.Second)
			began := time.Now()
			err := s.do(limit, h)
			took := time.Since(began)
			cancel()
			if ctx.Err() != nil {
				return
			}
			seen.addStep(s, err, took)
			if again {
				pause(ctx, 50*time.Millisecond)
			}
		}
		if !again {
			h.turn++
			return
		}
	}
}

// request is a step that has to be answered with a status. In path and body LOGIN is the login, TURN the
// turn, and what is kept of an earlier answer's field is named like that: keep NUMBER=number makes NUMBER
// such a word.
func request(name, do string, status int, body string, keep ...string) step {
	return step{name: name, bound: requestBound, do: func(ctx context.Context, h *honest) error {
		words := []string{"TURN", fmt.Sprint(h.turn), "LOGIN", h.login}
		for word, value := range h.kept {
			words = append(words, word, value)
		}
		replace := strings.NewReplacer(words...).Replace
		method, path, _ := strings.Cut(replace(do), " ")
		got, text, err := h.call.do(ctx, method, path, replace(body),
			http.Header{"Content-Type": {"application/json"}})
		if err != nil {
			return err
		}
		if got != status {
			return fmt.Errorf("%s %s: %d %.200s", method, path, got, text)
		}
		for _, k := range keep {
			word, field, _ := strings.Cut(k, "=")
			var answer map[string]json.RawMessage
			if err := json.Unmarshal(text, &answer); err != nil {
				return err
			}
			h.kept[word] = strings.Trim(string(answer[field]), `"`)
			if field == "number" {
				h.made++
			}
		}
		return nil
	}}
}

func (s step) onEqualTerms() step {
	s.equal = true
	return s
}

// large turns a step into one that requests much data, with a media type.
func (s step) large(kind string) step {
	return step{name: s.name, bound: transferBound, do: func(ctx context.Context, h *honest) error {
		other := *h
		other.call = h.call.accepting(kind)
		return s.do(ctx, &other)
	}}
}

// work is what the clients of people with an account ask.
func work() []step {
	const garden, own = "/repos/alice/garden", "/repos/LOGIN/notes-LOGIN"
	star := func(do string) step { return request("star", do+" /user/starred/alice/garden", 204, "") }
	return []step{
		request("repository", "GET "+garden, 200, ""),
		request("list of issues", "GET "+garden+"/issues?per_page=30", 200, ""),
		request("another list of issues", "GET "+garden+
			"/issues?per_page=30&sort=updated&page=1&since=2011-01-01T00:00:00Z&x=TURN", 200, ""),
		request("issue", "GET "+garden+"/issues/7", 200, ""),
		request("tree", "GET "+garden+"/git/trees/main?recursive=1", 200, ""),
		request("commits", "GET "+garden+"/commits?per_page=20", 200, ""),
		request("commit", "GET "+garden+"/commits/main", 200, ""),
		request("file", "GET "+garden+"/contents/dir1/file1.txt", 200, ""),
		request("search", "GET /search/issues?q=slugs+repo:alice/garden", 200, ""),
		request("search of repositories", "GET /search/repositories?q=garden+user:alice", 200, ""),
		request("notifications", "GET /notifications", 200, ""),
		request("file an issue", "POST "+own+"/issues", 201,
			`{"title": "Turn TURN", "body": "It *works*."}`, "ISSUE=number"),
		request("comment", "POST "+own+"/issues/ISSUE/comments", 201, `{"body": "Turn TURN"}`),
		request("edit", "PATCH "+own+"/issues/ISSUE", 200, `{"body": "Turn TURN"}`),
		request("write a file", "PUT "+own+"/contents/turn-TURN", 201,
			`{"message": "Turn TURN", "content": "aGVsbG8K"}`),
		request("tip", "GET "+own+"/commits/main", 200, "", "TIP=sha"),
		request("branch", "POST "+own+"/git/refs", 201, `{"ref": "refs/heads/b-TURN", "sha": "TIP"}`),
		request("write a file on a branch", "PUT "+own+"/contents/branch-TURN", 201,
			`{"message": "Turn TURN", "content": "aGVsbG8K", "branch": "b-TURN"}`),
		request("pull request", "POST "+own+"/pulls", 201,
			`{"title": "Turn TURN", "head": "b-TURN", "base": "main"}`, "PULL=number"),
		request("review", "POST "+own+"/pulls/PULL/reviews", 200, `{"body": "Turn TURN", "event": "COMMENT"}`),
		request("merge", "PUT "+own+"/pulls/PULL/merge", 200, `{}`),
		request("release", "POST "+own+"/releases", 201, `{"tag_name": "v-TURN"}`, "RELEASE=id"),
		request("asset", "POST "+own+"/releases/RELEASE/assets?name=TURN", 201, strings.Repeat("contents\n", 500)),
		request("fork", "POST /repos/carol/notes-carol/forks", 202, `{"name": "fork-TURN"}`),
		request("branch of a fork", "GET /repos/LOGIN/fork-TURN/branches/main", 200, ""),
		request("delete a fork", "DELETE /repos/LOGIN/fork-TURN", 204, ""),
		star("PUT"), star("DELETE"),
	}
}

// visits are what somebody without an account does, as most callers of a public server.
func visits(w *world) []step {
	visit := func(name, do string) step {
		s := request("anonymous "+name, do, 200, "")
		s.bound, s.equal = anonymousBound, true
		return s
	}
	return []step{
		visit("repository", "GET /repos/alice/garden"),
		visit("list of issues", "GET /repos/alice/garden/issues?per_page=30"),
		visit("page of code", "GET /alice/garden/blob/main/dir1/file1.txt"),
		clone(w, "anonymous clone", w.url+"/alice/garden.git").onEqualTerms(),
	}
}

// git runs git as a user with a key and a token. A token in the address would be sent only when the server
// asks for it; this one is sent with each request.
func (w *world) git(ctx context.Context, login string, args ...string) error {
	if token := w.tokens[login]; token != "" {
		basic := base64.StdEncoding.EncodeToString([]byte(login + ":" + token))
		args = append([]string{"-c", "http.extraHeader=Authorization: Basic " + basic}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(gittest.Env(), "GIT_SSL_CAINFO="+w.certificate, "GIT_SSH_COMMAND="+w.ssh)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args[len(args)-1], err, out)
	}
	return nil
}

// clone is a step that clones and throws away.
func clone(w *world, name, from string, options ...string) step {
	dir := filepath.Join(w.t.TempDir(), "clone")
	return step{name: name, bound: transferBound, do: func(ctx context.Context, h *honest) error {
		defer os.RemoveAll(dir)
		return w.git(ctx, h.login, append(append([]string{"clone", "-q"}, options...), from, dir)...)
	}}
}

// transfers clone and push with git, and move as much by requests.
func transfers(w *world) []step {
	// pushes adds an empty commit to a repository of carol's. A push to carol/large has to walk its history
	// for what was pushed away there.
	pushes := func(name, repository, dir string) step {
		remote := w.url + "/carol/" + repository + ".git"
		return step{name: name, bound: transferBound, do: func(ctx context.Context, h *honest) error {
			if _, err := os.Stat(dir); err != nil {
				if err := w.git(ctx, h.login, "clone", "-q", remote, dir); err != nil {
					return err
				}
			}
			err := w.git(ctx, "", "-C", dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("Turn ", h.turn))
			if err != nil {
				return err
			}
			return w.git(ctx, h.login, "-C", dir, "push", "-q", remote, "HEAD:main")
		}}
	}
	const large = "/repos/carol/large"
	blob, _ := json.Marshal(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("y", 3<<20))))
	steps := []step{
		clone(w, "clone", w.url+"/alice/garden.git"),
		clone(w, "clone by protocol 0", w.url+"/alice/garden.git", "-c", "protocol.version=0"),
		clone(w, "clone of a private repository", w.url+"/carol/private.git", "--bare"),
		pushes("push", "notes-carol", filepath.Join(w.t.TempDir(), "notes")),
		pushes("push to what others clone", "large", w.large),
		request("large file", "GET "+large+"/contents/large.txt", 200, "").large("raw"),
		request("large diff", "GET "+large+"/commits/many", 200, "").large("diff"),
		request("long list of commits", "GET "+large+"/commits?sha=talk&per_page=100", 200, "").large("json"),
		request("upload a blob", "POST /repos/carol/notes-carol/git/blobs", 201,
			`{"encoding": "base64", "content": `+string(blob)+`}`).large("json").onEqualTerms(), // it is a fair share
	}
	if w.sshAddress != "" {
		steps = append(steps, clone(w, "clone over SSH", "ssh://git@"+w.sshAddress+"/alice/garden.git", "--depth=1"))
	}
	return steps
}

// operator makes backups one after another.
func operator(w *world) *honest {
	dir := filepath.Join(w.t.TempDir(), "backup")
	backup := func(ctx context.Context, _ *honest) error {
		cmd := exec.CommandContext(ctx, w.binary, "backup", dir)
		cmd.Env = w.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("arbor backup: %w\n%s", err, out)
		}
		return nil
	}
	return &honest{login: "operator", steps: []step{{name: "backup", bound: time.Minute, do: backup}}}
}

// checkNumbers demands that the next issue of a person's repository has the number that follows what was
// acknowledged: nothing was lost, nothing made twice.
func (w *world) checkNumbers(t testing.TB, callers []*honest) {
	t.Helper()
	for _, h := range callers[:2] {
		want := fmt.Sprint(h.made + 1)
		err := request("", "POST /repos/LOGIN/notes-LOGIN/issues", 201, `{"title": "Last"}`, "LAST=number").
			do(t.Context(), h)
		if err != nil || h.kept["LAST"] != want {
			t.Errorf("the next issue of %s has the number %s, want %s: %v", h.login, h.kept["LAST"], want, err)
		}
	}
}
