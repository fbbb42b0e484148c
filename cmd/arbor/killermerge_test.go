//go:build long

package main

import (
	"fmt"
	"strings"

	"arbor/internal/test/gittest"
)

// checkMerges demands of each merge that everything that shows it agrees: it happened, once and as its method
// says, or not at all. Then it can be made.
func checkMerges(c *world) {
	c.t.Helper()
	for _, d := range c.story.of("merge", "squash", "rebase") {
		if !c.looked[d.key] {
			c.checkMerge(d)
		}
	}
	checkTitles(c)
}

func (c *world) checkMerge(d deed) {
	c.t.Helper()
	merged := c.checkMerged(d)
	if merged && d.told == refused && !c.merged[d.key] || !merged && (d.told == acknowledged || c.merged[d.key]) {
		c.t.Errorf("the %s of %s was %s; it is merged: %t", d.kind, d.key, d.told, merged)
	}
	number := strings.Fields(d.key)[1]
	again := func() int {
		res, _ := c.ask(0, "alice", "PUT", "/api/v3/repos/alice/garden/pulls/"+number+"/merge",
			`{"merge_method": "`+d.kind+`"}`)
		return res.StatusCode
	}
	if !merged {
		if status := again(); status != 200 || !c.checkMerged(d) {
			c.t.Errorf("%s cannot be merged any more: %d", d.key, status)
		}
	}
	if status := again(); status != 405 {
		c.t.Errorf("merged twice: %d", status)
	}
	c.looked[d.key], c.merged[d.key] = true, true
}

// checkMerged reports whether a pull request is merged, and holds all that shows it against that.
func (c *world) checkMerged(d deed) bool {
	c.t.Helper()
	parts := strings.Fields(d.key)
	path := "/repos/alice/garden/pulls/" + parts[1]
	pull := c.get(path)
	merged := pull["merged"] == true
	dir := c.clone()
	head := pull["head"].(map[string]any)["sha"].(string)
	want, sha := "open, by <nil> at <nil>, check 404\nissue open, fixed open\n", ""
	if merged {
		sha = pull["merge_commit_sha"].(string)
		want = fmt.Sprintf("closed, by alice at %v, check 204\nissue closed, fixed closed\nmerged by %s\n"+
			"closed by <nil>\nfixed: closed by %s\n", pull["merged_at"], sha, sha)
		if got, want := commitOf(c, dir, d.kind, sha, head), mergeOf(c, dir, d.kind, sha, head); got != want {
			c.t.Errorf("%s: %s made %s, want %s", d.key, d.kind, got, want)
		}
	} else {
		c.checkOpen(pull)
	}
	if n := c.filesOf(dir)[parts[0]]; n == 1 != merged {
		c.t.Errorf("%s: main has it: %d, and it is merged: %t", d.key, n, merged)
	}
	var got strings.Builder
	by, _ := pull["merged_by"].(map[string]any)
	fmt.Fprintf(&got, "%v, by %v at %v, check %d\nissue %v, fixed %v\n",
		pull["state"], by["login"], pull["merged_at"],
		c.status("alice", path+"/merge"), c.get("/repos/alice/garden/issues/" + parts[1])["state"],
		c.get("/repos/alice/garden/issues/" + parts[2])["state"])
	for i, number := range parts[1:] {
		for _, e := range c.list("/repos/alice/garden/issues/" + number + "/events") {
			if e["event"] != "referenced" { // what is pushed is read later
				fmt.Fprintf(&got, "%s%v by %v\n", []string{"", "fixed: "}[i], e["event"], e["commit_id"])
			}
		}
	}
	if got.String() != want {
		c.t.Errorf("%s: the API shows\n%s\nand it is\n%s", d.key, &got, want)
	}
	return merged
}

// commitOf returns tree and parents of a merge, and how many commits neither its base nor its head has.
func commitOf(c *world, dir, method, sha, head string) string {
	base := baseOf(method, sha)
	return gittest.Run(c.t, dir, "log", "-1", "--format=%T %P", sha) + " " +
		gittest.Run(c.t, dir, "rev-list", "--count", sha, "^"+base, "^"+head) +
		gittest.Run(c.t, dir, "branch", "--format= in %(refname:short)", "--list", "main", "--contains", sha)
}

// mergeOf is what commitOf has to return.
func mergeOf(c *world, dir, method, sha, head string) string {
	base := baseOf(method, sha)
	parents := gittest.Run(c.t, dir, "rev-parse", sha+"^")
	if method == "merge" {
		parents += " " + head
	}
	made := map[string]int{"merge": 1, "squash": 1, "rebase": 2}[method]
	tree := gittest.Run(c.t, dir, "merge-tree", "--write-tree", base, head)
	return fmt.Sprintf("%s %s %d in main", tree, parents, made)
}

// baseOf is what a merge was made on.
func baseOf(method, sha string) string {
	if method == "rebase" { // of two commits
		return sha + "~2"
	}
	return sha + "^"
}
