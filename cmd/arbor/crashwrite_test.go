//go:build long

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
)

// kindsOfWork are all of them. Each does one piece of it, and notes what it was told.
var kindsOfWork = map[string]func(*writer){
	"issue": func(w *writer) {
		w.send("alice", "POST", "/repos/alice/garden/issues", `{"title": "%s", "body": "a text"}`)
	},
	"comment": func(w *writer) {
		w.send("bob", "POST", w.c.proposal("issues")+"/comments", `{"body": "%s"}`)
	},
	"review": func(w *writer) {
		w.send("bob", "POST", w.c.proposal("pulls")+"/reviews", `{"body": "%s", "event": "COMMENT"}`)
	},
	"edit":   func(w *writer) { w.send("alice", "PATCH", w.c.proposal("issues"), `{"body": "%s"}`) },
	"plant":  plantSomething,
	"star":   starAndUnstar,
	"file":   writeFile,
	"push":   pushSomething,
	"merge":  mergeSomething,
	"asset":  uploadSomething,
	"fork":   forkAndDelete,
	"backup": backUp,
}

// writer does one kind of work, piece after piece.
type writer struct {
	c       *crash
	kind    string
	name    string // no other writer has it
	pieces  int
	key     string  // of the piece in hand, in the whole story once
	dir     string  // a repository of its own
	release float64 // the id of a release of its own
}

func (c *crash) newWriter(kind string) *writer {
	return &writer{c: c, kind: kind, name: fmt.Sprintf("%s-%d", kind, c.writers.Add(1)), key: kind}
}

// proposal is the address of the pull request that stays open.
func (c *crash) proposal(collection string) string {
	return fmt.Sprintf("/repos/alice/garden/%s/%d", collection, c.review)
}

// next begins a new piece of work, and gives its key.
func (w *writer) next() string {
	w.pieces++
	w.key = fmt.Sprintf("%s-%d", w.name, w.pieces)
	return w.key
}

// node is one that the next piece of work goes to.
func (w *writer) node() int { return (w.pieces + len(w.name)) % len(w.c.listen) }

// send does a piece of work that is one request, with the key in its body.
func (w *writer) send(login, method, path, body string) int {
	status, _ := w.ask(login, method, path, strings.ReplaceAll(body, "%s", w.next()))
	w.c.story.add(w.kind, w.key, outcomeOf(status))
	return status
}

var crashClient = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 20}}

// ask makes a request. The status is 0 if there was no answer.
func (w *writer) ask(login, method, path, body string) (status int, answer map[string]any) {
	r, err := http.NewRequest(method, "http://"+w.c.listen[w.node()]+path, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	r.Header.Set("Authorization", "Bearer "+w.c.nodes[0].tokens[login])
	r.Header.Set("Content-Type", "application/json")
	r.GetBody = nil // else a request may be sent twice
	res, err := crashClient.Do(r)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return 0, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	_ = json.Unmarshal(text, &answer) // not each answer is an object
	return res.StatusCode, answer
}

// plantSomething gives each plant an id that no other has.
func plantSomething(w *writer) {
	w.send("alice", "POST", "/plants", fmt.Sprintf(`{"id": %d, "name": "%%s"}`, w.c.plants.Add(1)))
}

func starAndUnstar(w *writer) {
	method := "PUT"
	if w.pieces%2 == 1 {
		method = "DELETE"
	}
	w.next()
	status, _ := w.ask("bob", method, "/user/starred/alice/garden", "")
	w.c.story.add(w.kind, method, outcomeOf(status))
}

func writeFile(w *writer) {
	key := w.next()
	status, _ := w.ask("alice", "PUT", "/repos/alice/garden/contents/"+key,
		`{"message": "Write", "content": "YQ=="}`)
	w.c.story.add(w.kind, key, outcomeOf(status))
}

// pushSomething adds a commit to the writer's own branch. What git says of a failure
// does not tell whether the server has it.
func pushSomething(w *writer) {
	if w.dir == "" {
		w.dir = gittest.Bare(w.c.t)
	}
	sha := add(w.c.t, w.dir, w.name, w.next())
	remote := as("http://"+w.c.listen[w.node()], "alice", w.c.nodes[0].tokens["alice"]) + "/alice/garden.git"
	told := acknowledged
	if r := try(w.c.t, w.dir, "push", "-q", "--force", remote, w.name); r.err != nil {
		told = unknown
	}
	w.c.story.add(w.kind, w.name+" "+string(sha), told)
}

// mergeSomething proposes a branch with a file of its own, and merges it.
func mergeSomething(w *writer) {
	key := w.next()
	if status, _ := w.ask("alice", "POST", "/repos/alice/garden/git/refs",
		fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": "%s"}`, key, w.c.main)); status != 201 {
		return
	}
	if status, _ := w.ask("alice", "PUT", "/repos/alice/garden/contents/"+key,
		fmt.Sprintf(`{"message": "Add", "content": "YQ==", "branch": "%s"}`, key)); status != 201 {
		return
	}
	status, pull := w.ask("alice", "POST", "/repos/alice/garden/pulls",
		fmt.Sprintf(`{"title": "%s", "head": "%s", "base": "main"}`, key, key))
	w.c.story.add("proposal", key, outcomeOf(status))
	if status != 201 {
		return
	}
	status, _ = w.ask("alice", "PUT", fmt.Sprintf("/repos/alice/garden/pulls/%.0f/merge", pull["number"]),
		`{}`)
	w.c.story.add(w.kind, fmt.Sprintf("%s %.0f", key, pull["number"]), outcomeOf(status))
}

// uploadSomething adds an asset to the writer's own release: its name, many times.
func uploadSomething(w *writer) {
	if w.release == 0 {
		status, made := w.ask("alice", "POST", "/repos/alice/garden/releases", `{"tag_name": "`+w.next()+`"}`)
		w.c.story.add("release", w.key, outcomeOf(status))
		if status != 201 {
			return
		}
		w.release = made["id"].(float64)
	}
	key := w.next()
	status, _ := w.ask("alice", "POST",
		fmt.Sprintf("/repos/alice/garden/releases/%.0f/assets?name=%s", w.release, key), contents(key))
	told := outcomeOf(status)
	w.c.story.add(w.kind, key, told)
	if told == refused { // the release is full
		w.release = 0
	}
}

// contents is what an asset holds.
func contents(name string) string { return strings.Repeat(name+"\n", 500) }

// forkAndDelete forks a repository, looks at the fork, and deletes it. A person has one fork
// of a repository, so after a failure it may be an earlier one that is answered.
func forkAndDelete(w *writer) {
	key := w.next()
	status, fork := w.ask("bob", "POST", "/repos/alice/small/forks", `{"name": "`+key+`"}`)
	told := outcomeOf(status)
	name, _ := fork["name"].(string)
	if told != acknowledged || name == key {
		w.c.story.add(w.kind, key, told)
	}
	if told != acknowledged {
		return
	}
	for !w.c.ended() {
		status, _ := w.ask("bob", "GET", "/repos/bob/"+name+"/branches/main", "")
		if told := outcomeOf(status); told == refused {
			w.c.t.Errorf("fork %s was acknowledged, and its branch answers %d", name, status)
		} else if told == acknowledged {
			break
		}
	}
	status, _ = w.ask("bob", "DELETE", "/repos/bob/"+name, "")
	w.c.story.add("deleted fork", name, outcomeOf(status))
}

// backUp notes when a backup began that succeeded. On SQLite each takes a while, and is in
// nobody's way.
func backUp(w *writer) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "arbor", "backup", w.c.backup)
	cmd.Env = w.c.nodes[0].env
	told := acknowledged
	if err := cmd.Run(); err != nil {
		told = unknown
	}
	w.c.story.add(w.kind, began.Format(time.RFC3339Nano), told)
	pause := 500 * time.Millisecond
	if w.c.engine == db.PostgreSQL {
		pause *= 2
	}
	select {
	case <-w.c.stop:
	case <-time.After(pause):
	}
}
