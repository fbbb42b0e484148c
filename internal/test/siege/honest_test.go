//go:build long

package siege

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"arbor/internal/test/gittest"
)

// honest is somebody with a token who works: one thing after the other, for ever.
type honest struct {
	login string
	call  *caller
	steps []step
	turn  int
}

// step is one thing that a person does, which must succeed within its bound.
type step struct {
	name  string
	bound time.Duration
	do    func(ctx context.Context, turn int) error
}

// honestCallers are the people at work: two by requests, one with git.
func honestCallers(w *world) []*honest {
	var list []*honest
	for _, login := range honestPeople[:2] {
		h := &honest{login: login, call: newCaller(w, "127.0.0.1", w.tokens[login])}
		h.steps = h.requests()
		list = append(list, h)
	}
	carol := &honest{login: "carol", call: newCaller(w, "127.0.0.1", w.tokens["carol"])}
	carol.steps = carol.transfers(w)
	return append(list, carol)
}

func (h *honest) work(ctx context.Context, seen *tally) {
	for ; ctx.Err() == nil; h.turn++ {
		for _, s := range h.steps {
			limit, cancel := context.WithTimeout(ctx, 60*time.Second)
			start := time.Now()
			err := s.do(limit, h.turn)
			took := time.Since(start)
			cancel()
			if ctx.Err() != nil {
				return
			}
			outcome := "ok"
			if err != nil {
				outcome = "failed"
				seen.fail(s.name, fmt.Sprintf("%v after %v", err, took.Round(time.Millisecond)))
			}
			seen.add(s.name, outcome, took)
			seen.bound(s.name, s.bound)
			pause(ctx, 50*time.Millisecond)
		}
	}
}

// bound notes what an honest caller may wait for.
func (t *tally) bound(name string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(name).bound = d
}

// requests are what a person's clients ask.
func (h *honest) requests() []step {
	get := func(name, path string) step {
		return step{name, requestBound, func(ctx context.Context, turn int) error {
			return h.want(ctx, "GET", strings.ReplaceAll(path, "TURN", strconv.Itoa(turn)), "", 200)
		}}
	}
	own := "/repos/" + h.login + "/notes-" + h.login
	return []step{
		get("repository", "/repos/alice/garden"),
		get("list of issues", "/repos/alice/garden/issues?per_page=30"),
		get("another list of issues",
			"/repos/alice/garden/issues?per_page=30&sort=updated&page=1&since=2011-01-01T00:00:00Z&x=TURN"),
		get("issue", "/repos/alice/garden/issues/7"),
		get("tree", "/repos/alice/garden/git/trees/main?recursive=1"),
		get("commits", "/repos/alice/garden/commits?per_page=20"),
		get("commit", "/repos/alice/garden/commits/main"),
		get("file", "/repos/alice/garden/contents/dir1/file1.txt"),
		get("search", "/search/issues?q=slugs+repo:alice/garden"),
		get("search of repositories", "/search/repositories?q=garden+user:alice"),
		get("notifications", "/notifications"),
		{"file an issue", requestBound, func(ctx context.Context, turn int) error {
			return h.want(ctx, "POST", own+"/issues",
				fmt.Sprintf(`{"title": "Turn %d", "body": "It *works*."}`, turn), 201)
		}},
		{"comment", requestBound, func(ctx context.Context, turn int) error {
			return h.want(ctx, "POST", own+"/issues/1/comments",
				fmt.Sprintf(`{"body": "Turn %d"}`, turn), 201)
		}},
		{"write a file", requestBound, func(ctx context.Context, turn int) error {
			content := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "turn %d\n", turn))
			return h.want(ctx, "PUT", fmt.Sprintf("%s/contents/turn-%d", own, turn),
				fmt.Sprintf(`{"message": "Turn %d", "content": %q}`, turn, content), 201)
		}},
		{"star", requestBound, func(ctx context.Context, turn int) error {
			return h.want(ctx, []string{"PUT", "DELETE"}[turn%2], "/user/starred/alice/garden", "", 204)
		}},
	}
}

func (h *honest) want(ctx context.Context, method, path, body string, status int) error {
	got, text, err := h.call.do(ctx, method, path, body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	if got != status {
		return fmt.Errorf("%s %s: %d %.200s", method, path, got, text)
	}
	return nil
}

// transfers clone, commit and push with git.
func (h *honest) transfers(w *world) []step {
	dir := w.t.TempDir()
	remote := func(name string) string {
		return strings.Replace(w.url, "://", "://"+h.login+":"+h.call.token+"@", 1) + "/" + name + ".git"
	}
	git := func(ctx context.Context, args ...string) error {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = dir, gittest.Env()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
		return nil
	}
	work := filepath.Join(dir, "notes")
	return []step{
		{"clone", transferBound, func(ctx context.Context, _ int) error {
			defer os.RemoveAll(filepath.Join(dir, "garden"))
			return git(ctx, "clone", "-q", remote("alice/garden"), "garden")
		}},
		{"push", transferBound, func(ctx context.Context, turn int) error {
			if _, err := os.Stat(work); err != nil {
				if err := git(ctx, "clone", "-q", remote("carol/notes-carol"), work); err != nil {
					return err
				}
			}
			err := git(ctx, "-C", work, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("Turn ", turn))
			if err != nil {
				return err
			}
			return git(ctx, "-C", work, "push", "-q", "origin", "HEAD:main")
		}},
	}
}
