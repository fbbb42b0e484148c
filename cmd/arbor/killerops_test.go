//go:build long

package main

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// table is all kinds of work. It is filled by init, since the work looks at the table, too.
var table []*work

func init() {
	table = []*work{
		{kind: "issue", group: "requests", do: func(w *writer) {
			w.send("alice", "POST", "/repos/alice/garden/issues", `{"title": "%s", "body": "text `+w.c.big+`"}`)
		}, check: checkTitles, moment: killedInDelivery, dead: func(c *world) {
			c.nodes[0].exec(`UPDATE hooks SET due_at = 0`) // the lease of the killed server
		}},
		{kind: "comment", group: "requests", do: func(w *writer) {
			w.send("bob", "POST", w.c.proposal("issues")+"/comments", `{"body": "%s"}`)
		}, check: func(c *world) { c.checkTexts("comment", c.proposal("issues")+"/comments", "body") }},
		{kind: "review", group: "requests", do: func(w *writer) {
			w.send("bob", "POST", w.c.proposal("pulls")+"/reviews", `{"body": "%s", "event": "COMMENT"}`)
		}, check: func(c *world) { c.checkTexts("review", c.proposal("pulls")+"/reviews", "body") }},
		{kind: "edit", group: "requests", do: func(w *writer) {
			w.send("alice", "PATCH", w.c.proposal("issues"), `{"body": "%s"}`)
		}, check: func(c *world) {
			c.checkLast("body", c.story.of("edit"), fmt.Sprint(c.get(c.proposal("issues"))["body"]), "<nil>")
		}},
		{kind: "plant", group: "requests", do: func(w *writer) { // each with an id that no other has
			w.send("alice", "POST", "/plants", fmt.Sprintf(`{"id": %d, "name": "%%s"}`, w.c.plants.Add(1)))
		}, check: func(c *world) { c.checkTexts("plant", "/plants?limit=1000000", "name") }},
		{kind: "star", group: "requests", do: starAndUnstar, check: func(c *world) {
			there := map[int]string{204: "PUT", 404: "DELETE"}[c.status("bob", "/user/starred/alice/garden")]
			c.checkLast("star", c.story.of("star"), there, "DELETE")
		}},
		{kind: "file", group: "git", do: writeFile, check: checkFiles},
		{kind: "blob", group: "git", do: writeBlob, check: checkBlobs},
		{kind: "push", group: "git", rounds: 6, do: push, check: checkPushes},
		{kind: "asset", group: "git", do: upload, check: checkAssets},
		{kind: "large object", group: "git", do: uploadLarge, check: checkLarge},
		{kind: "fork", group: "owners", rounds: 6, do: forkAndDelete, check: checkForks},
		{kind: "transfer", group: "owners", rounds: 6, prepare: findOwner, do: transfer, check: checkTransfers},
		{kind: "merge", group: "merges", rounds: 12, every: true, prepare: propose, do: merge, check: checkMerges},
		{kind: "squash", group: "merges", rounds: 6, every: true, prepare: propose, do: merge, check: checkMerges},
		{kind: "rebase", group: "merges", rounds: 6, every: true, prepare: propose, do: merge, check: checkMerges},
		{kind: "mirror", group: "mirrors", rounds: 6, alone: true, prepare: setUpMirror, do: followSource,
			check: checkMirrored, dead: endLease},
		{kind: "maintenance", group: "maintenance", rounds: 4, alone: true, prepare: unpack, do: maintain,
			check: checkPacked, moment: killedWhilePacking, dead: checkObjects},
		{kind: "backup", do: backUp, check: func(*world) {}},
	}
}

// proposal is the address of the pull request that stays open.
func (c *world) proposal(collection string) string {
	return fmt.Sprintf("/repos/alice/garden/%s/%d", collection, c.review)
}

// killedInDelivery kills the server while a receiver holds a delivery, and another waits behind it. Both
// are in a backup, too, of which nothing is sent when it is restored.
func killedInDelivery(w *writer, kill func()) {
	c, s := w.c, w.c.nodes[0]
	testkit.Eventually(c.t, func() bool { return s.waiting() == 0 }, "no delivery waits")
	held, release := c.told.hold()
	w.row.do(w)
	c.told.first = w.key
	<-held
	w.row.do(w)
	c.told.second = w.key
	kill()
	release()
	if n := s.waiting(); n != 2 {
		c.t.Errorf("%d deliveries wait, want 2", n)
	}
	backUp(w)
}

func starAndUnstar(w *writer) {
	method := []string{"PUT", "DELETE"}[w.pieces%2]
	w.next()
	status, _ := w.ask("bob", method, "/user/starred/alice/garden", "")
	w.note("star", method, outcomeOf(status))
}

// put writes a file of garden by the API, and returns the commit and the blob.
func (w *writer) put(path, branch, blob, text string) (status int, commit, sha string) {
	body := fmt.Sprintf(`{"message": "Write", "branch": "%s", "content": "%s"`, branch,
		base64.StdEncoding.EncodeToString([]byte(text)))
	if blob != "" {
		body += `, "sha": "` + blob + `"`
	}
	status, answer := w.ask("alice", "PUT", "/repos/alice/garden/contents/"+path, body+"}")
	made, _ := answer["commit"].(map[string]any)
	content, _ := answer["content"].(map[string]any)
	return status, fmt.Sprint(made["sha"]), fmt.Sprint(content["sha"])
}

func writeFile(w *writer) {
	key := w.next()
	status, _, _ := w.put(key, "main", "", key+w.c.big)
	w.note("file", key, outcomeOf(status))
}

func writeBlob(w *writer) {
	text := w.next() + w.c.big
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	status, _ := w.ask("alice", "POST", "/repos/alice/garden/git/blobs", `{"content": "`+text+`"}`)
	w.note("blob", hex.EncodeToString(sum[:]), outcomeOf(status))
}

// push pushes a commit to two branches of the writer's own, and to the one of the pull request that stays
// open. What git says of a failure does not tell whether the server has it.
func push(w *writer) {
	if w.dir == "" {
		w.dir = filepath.Join(w.c.t.TempDir(), "push.git")
		gittest.Run(w.c.t, "", "clone", "-q", "--bare", w.c.source, w.dir)
	}
	sha := string(add(w.c.t, w.dir, "reviewed", w.next()+w.c.big))
	told := acknowledged
	r := try(w.c.t, w.dir, "push", "-q", "--force", w.remote("alice/garden"), "reviewed",
		"reviewed:refs/heads/"+w.name, "reviewed:refs/heads/"+w.name+"-too")
	if r.err != nil {
		busy := strings.Contains(r.out, "error: 429") || strings.Contains(r.out, "error: 503")
		if told = unknown; w.c.big != "" && !busy {
			w.refused(strings.Contains(r.out, "507") || strings.Contains(r.out, "disk") ||
				strings.Contains(r.out, "unpacker error"), r.out)
		}
	}
	w.note("push", w.name+" "+sha, told)
}

// upload adds an asset to the writer's own release.
func upload(w *writer) {
	if w.release == 0 {
		status, made := w.ask("alice", "POST", "/repos/alice/garden/releases", `{"tag_name": "`+w.next()+`"}`)
		if w.note("release", w.key, outcomeOf(status)) != acknowledged {
			return
		}
		w.release = made["id"].(float64)
	}
	key := w.next()
	status, _ := w.ask("alice", "POST",
		fmt.Sprintf("/repos/alice/garden/releases/%.0f/assets?name=%s", w.release, key), contents(key))
	if w.note("asset", key, outcomeOf(status)) == refused { // the release is full
		w.release = 0
	}
}

// uploadLarge uploads an object of Git LFS.
func uploadLarge(w *writer) {
	key := w.next()
	status, _ := w.ask("alice", "PUT", fmt.Sprintf("%s/%d", largePath(key), len(contents(key))), contents(key))
	w.note("large object", key, outcomeOf(status))
}

// largePath is where the object with the contents of a key is.
func largePath(key string) string {
	return fmt.Sprintf("/alice/garden.git/info/lfs/objects/%x", sha256.Sum256([]byte(contents(key))))
}

// contents is what an asset holds: its name, many times.
func contents(name string) string { return strings.Repeat(name+"\n", 500) }

// forkAndDelete forks a repository, one that is public and one that is not in turn, looks at the fork, and
// deletes it. An owner has one fork of a repository, so after a failure an earlier one may be the answer.
func forkAndDelete(w *writer) {
	key := w.next()
	login, from, owner, more := "bob", "small", "bob", ""
	if w.pieces%2 == 0 {
		login, from, owner, more = "alice", "closed", "guild", `, "organization": "guild"`
	}
	status, fork := w.ask(login, "POST", "/repos/alice/"+from+"/forks", `{"name": "`+key+`"`+more+`}`)
	told := outcomeOf(status)
	name, _ := fork["name"].(string)
	if told != acknowledged || name == key {
		w.note("fork of "+from, owner+"/"+key, told)
	}
	if told != acknowledged {
		return
	}
	for told = unknown; told == unknown && !w.c.ended(); {
		status, _ := w.ask(login, "GET", "/repos/"+owner+"/"+name+"/branches/main", "")
		if told = outcomeOf(status); told == refused {
			w.c.t.Errorf("fork %s was acknowledged, and its branch answers %d", name, status)
		}
	}
	status, _ = w.ask(login, "DELETE", "/repos/"+owner+"/"+name, "")
	w.note("deleted fork", owner+"/"+name, outcomeOf(status))
}

// findOwner asks whom the roving repository belongs to.
func findOwner(w *writer) bool {
	for _, w.at = range []string{"alice", "guild"} {
		if status, _ := w.ask("alice", "GET", "/repos/"+w.at+"/roving", ""); status == 200 {
			return true
		}
	}
	return false
}

// movedPush is a push to the address that a repository had before it changed owners.
const movedPush = "push to an old address"

// transfer has the roving repository change owners, while somebody pushes to its old address.
func transfer(w *writer) {
	if w.dir == "" {
		w.dir = gittest.Bare(w.c.t)
	}
	key := w.next()
	sha := string(add(w.c.t, w.dir, key, key))
	_, pushed := begin(w.c.t, w.dir, "push", w.remote(w.at+"/roving"), key)
	for told, i := acknowledged, 0; told == acknowledged && i < 3; i++ {
		next := map[string]string{"alice": "guild", "guild": "alice"}[w.at]
		status, _ := w.ask("alice", "POST", "/repos/"+w.at+"/roving/transfer", `{"new_owner": "`+next+`"}`)
		told = w.note("transfer", next, outcomeOf(status))
		w.at = next
	}
	told := acknowledged
	if r := <-pushed; r.err != nil {
		told = unknown
	}
	w.note(movedPush, key+" "+sha, told)
}

// propose opens a pull request that says it fixes an issue. Its two commits change a file that its base
// changes after it, so that the merge needs git, and add one.
func propose(w *writer) bool {
	key := w.next()
	lines := func(first, last string) string { return first + strings.Repeat("line\n", 30) + last }
	status, base, blob := w.put("lines-"+key, "main", "", lines("", ""))
	if status != 201 {
		return false
	}
	status, _ = w.ask("alice", "POST", "/repos/alice/garden/git/refs",
		fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": "%s"}`, key, base))
	if status != 201 {
		return false
	}
	if status, _, _ = w.put("lines-"+key, key, blob, lines("head\n", "")); status != 200 {
		return false
	}
	if status, _, _ = w.put(key, key, "", "new\n"); status != 201 {
		return false
	}
	status, issue := w.ask("alice", "POST", "/repos/alice/garden/issues", `{"title": "fixed-`+key+`"}`)
	if w.note("issue", "fixed-"+key, outcomeOf(status)) != acknowledged {
		return false
	}
	status, pull := w.ask("alice", "POST", "/repos/alice/garden/pulls", fmt.Sprintf(
		`{"title": "%s", "body": "fixes #%.0f", "head": "%[1]s", "base": "main"}`, key, issue["number"]))
	if w.note("proposal", key, outcomeOf(status)) != acknowledged {
		return false
	}
	w.at = fmt.Sprintf("%.0f %.0f", pull["number"], issue["number"])
	status, _, _ = w.put("lines-"+key, "main", blob, lines("", "main\n"))
	return status == 200
}

// merge merges what was proposed by the method that the row is named after.
func merge(w *writer) {
	number, _, _ := strings.Cut(w.at, " ")
	status, _ := w.ask("alice", "PUT", "/api/v3/repos/alice/garden/pulls/"+number+"/merge",
		`{"merge_method": "`+w.row.kind+`"}`)
	w.note(w.row.kind, w.key+" "+w.at, outcomeOf(status))
}

// backUp notes when a backup began that succeeded. On SQLite each takes a while, and is in nobody's way.
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
	w.note("backup", began.Format(time.RFC3339Nano), told)
	select {
	case <-w.c.stop:
	case <-time.After(time.Second):
	}
}
