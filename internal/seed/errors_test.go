package seed

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// mistake is a seed that is wrong, and how its problems begin, line by line.
type mistake struct {
	text string
	want []string
}

const people = "users: [{login: alice}, {login: bob}]\n"

// garden is a seed with one repository that has these keys more.
func garden(more string) string { return people + "repos:\n  - name: alice/garden\n" + more }

// tell fails unless who writes these seeds sees what is wrong with each, where,
// and all of it at once.
func tell(t *testing.T, list []mistake) {
	t.Helper()
	for _, c := range list {
		_, err := Parse("f", ".", []byte(c.text))
		got := []string{"no error"}
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			same = same && strings.HasPrefix(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s\ngives\n%s\nnot\n%s", c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestErrorsInFormat(t *testing.T) {
	t.Parallel()
	tell(t, []mistake{
		{"a: [1\nb: 2", []string{"f:2: is not valid YAML: did not find expected ',' or ']'"}},
		{"users: *nobody", []string{"f:1: is not valid YAML: unknown anchor 'nobody' referenced"}},
		{"users: []\n---\nusers: []\n", []string{"f: is not valid YAML: expected single document, found multiple"}},
		{"[]", []string{"f:1: must be a mapping"}},
		{"user: []", []string{
			"f:1: user: unknown key: want oauth_apps, orgs, plants, repos, require_two_factor, sign_up, start, users"}},
		{"users: {login: a}", []string{"f:1: users: must be a list"}},
		{"users: [alice]", []string{"f:1: users[0]: must be a mapping"}},
		{"users:\n  - {name: x}", []string{"f:2: users[0]: login is missing"}},
		{"users:\n  - login: 7", []string{"f:2: users[0].login: must be text: put it in quotes"}},
		{"users:\n  - login:\n", []string{"f:2: users[0].login: is empty: give text, or leave it out"}},
		{"users:\n  - login: a\n    admin: perhaps\n    bio: [x]\n    created_at: soon", []string{
			"f:3: users[0].admin: must be true or false", "f:4: users[0].bio: must be text",
			"f:5: users[0].created_at: must be a time after 1970, such as 2026-01-31 or 2026-01-31T12:00:00Z"}},
		{"users:\n  - login: a\n    login: b",
			[]string{"f:3: users[0].login: is said twice: first on line 2"}},
	})
}

func TestErrorsInAccounts(t *testing.T) {
	t.Parallel()
	const one = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G1sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X x"
	tell(t, []mistake{
		{"users:\n  - login: alice\n  - login: Alice\n  - login: a b\n  - login: admin", []string{
			`f:3: users[1].login: "Alice" is declared above`,
			`f:4: users[2].login: the login "a b" may hold only`,
			`f:5: users[3].login: the login "admin" is reserved`}},
		{"users:\n  - login: a\n    tokens:\n      - secret\n      - arb_one1\n      - value: arb_one1\n      - {value: arb_two2, expires_at: 2025-01-01}\n      - {value: arb_three, scopes: all}", []string{
			`f:4: users[0].tokens[0]: a token is "arb_" and from 4 to 251 letters, digits or underscores`,
			"f:6: users[0].tokens[2].value: this token is declared above",
			"f:7: users[0].tokens[3].expires_at: is not after 2026-01-01T00:00:00Z, when the token is made",
			`f:8: users[0].tokens[4].scopes: there is no scope "all": use repo, `}},
		{"users:\n  - login: a\n    keys:\n      - secret\n      - " + one + "\n      - {key: " + one +
			", title: again}", []string{
			"f:4: users[0].keys[0]: ", "f:6: users[0].keys[2].key: this key is declared above"}},
		{"users:\n  - login: a\n    signing_keys:\n      - secret\n      - " + one + "\n      - {key: " + one +
			", title: again}", []string{
			"f:4: users[0].signing_keys[0]: ", "f:6: users[0].signing_keys[2].key: this key is declared above"}},
		{people + "orgs:\n  - {login: bob, owners: [alice]}\n  - {login: o, owners: [carol]}\n  - {login: p, owners: [alice], members: [alice, o]}\n  - {login: q, owners: [], default_permission: all}", []string{
			"f:6: orgs[3].default_permission: must be one of none, read, write, admin"}},
		{people + "orgs:\n  - {login: bob, owners: [alice]}\n  - {login: o, owners: [carol]}\n  - {login: p, owners: [alice], members: [alice, o]}\n  - {login: q, owners: []}", []string{
			`f:3: orgs[0].login: "bob" is declared above`, `f:4: orgs[1].owners: user "carol" not found`,
			`f:5: orgs[2].members[0]: "alice" stands here twice`,
			`f:5: orgs[2].members[1]: "o" is an organization, not a user`,
			"f:6: orgs[3].owners: an organization has at least one owner"}},
		{people + "repos:\n  - name: garden\n  - name: carol/garden\n  - name: alice/a\n  - name: alice/A\n  - name: alice/b\n    fork: alice/c\n  - {name: alice/d, fork: alice/d}", []string{
			"f:3: repos[0].name: must be OWNER/NAME: name can't be blank",
			`f:4: repos[1].name: user or organization "carol" not found`,
			`f:6: repos[3].name: "alice/A" is declared above`,
			`f:8: repos[4].fork: repository "alice/c" not found`,
			"f:9: repos[5].fork: a repository cannot be a fork of itself"}},
		{people + "repos:\n  - {name: alice/a, fork: bob/a}\n  - {name: bob/a, fork: alice/a}",
			[]string{"f:3: repos[0].fork: bob/a is empty: nothing can be forked",
				"f:4: repos[1].fork: the forks go in a circle"}},
		{garden("    collaborators:\n      carol: push\n      bob: own\n      alice: pull\n    stars: [bob, bob]"), []string{
			"f:6: repos[0].collaborators.bob: must be one of pull, triage, push, maintain, admin"}},
		{garden("    collaborators:\n      carol: push\n      alice: pull\n    stars: [bob, bob]\n    watchers: [x]"), []string{
			`f:5: repos[0].collaborators.carol: user "carol" not found`,
			"f:6: repos[0].collaborators.alice: the owner cannot be a collaborator",
			`f:7: repos[0].stars: "bob" stands here twice`, `f:8: repos[0].watchers: user "x" not found`}},
	})
}

func TestErrorsInHistories(t *testing.T) {
	t.Parallel()
	tell(t, []mistake{
		{garden("    files:\n      a: {content: x, base64: eA==}\n      b: {base64: '*'}\n      c: 7\n      d: {mode: '100666'}"), []string{
			"f:5: repos[0].files.a: has both content and base64",
			"f:6: repos[0].files.b.base64: is not valid Base64",
			"f:7: repos[0].files.c: must be text: put it in quotes",
			"f:8: repos[0].files.d.mode: must be one of 100644, 100755, 120000"}},
		{garden("    files:\n      ../a: x\n      .git/config: x\n"), []string{
			`f:5: repos[0].files."../a": the path has a "." or ".." part`,
			`f:6: repos[0].files.".git/config": the path has a part that means ".git"`}},
		{garden("    files: {a: x}\n    commits:\n      - {message: x, branch: new}\n      - {message: x, branch: other, from: nowhere}\n      - {message: x, from: main}\n      - {message: x, author: carol}\n      - {message: x, merge: [x]}\n      - {message: x, branch: a..b, from: main}\n      - {files: {}}"), []string{
			"f:12: repos[0].commits[6]: message is missing"}},
		{garden("    files: {a: x}\n    commits:\n      - {message: x, branch: new}\n      - {message: x, branch: other, from: nowhere}\n      - {message: x, from: main}\n      - {message: x, author: carol}\n      - {message: x, merge: [x]}\n      - {message: x, author: {name: <, email: b}}"), []string{
			`f:6: repos[0].commits[0].branch: the branch "new" is new: say where it begins, by from`,
			`f:7: repos[0].commits[1].from: branch or tag "nowhere" does not exist yet`,
			`f:8: repos[0].commits[2]: the branch "main" is there already`,
			`f:9: repos[0].commits[3].author: user "carol" not found`,
			`f:10: repos[0].commits[4].merge: branch or tag "x" does not exist yet`,
			`f:11: repos[0].commits[5].author: name must not contain`}},
		{garden("    files: {a: x}\n    branches:\n      - {name: main}\n      - {name: x, commits: [{message: m, branch: y}]}\n    tags:\n      - {name: v1}\n      - {name: v1}\n      - {name: v2, target: x1}\n      - {name: a..b}"), []string{
			`f:6: repos[0].branches[0].name: the branch "main" is there already`,
			"f:7: repos[0].branches[1].commits[0].branch: these commits stand on the branch x",
			`f:10: repos[0].tags[1].name: the tag "v1" is there already`,
			`f:11: repos[0].tags[2].target: branch or tag "x1" does not exist yet`,
			"f:12: repos[0].tags[3].name: "}},
		{people + "repos: [{name: alice/a, default_branch: trunk}]",
			[]string{`f:2: repos[0].default_branch: branch "trunk" not found`}},
	})
}

// Whom rules name is there.
func TestErrorsInRules(t *testing.T) {
	t.Parallel()
	const bypass = "    rulesets:\n      - name: a\n        rules: [deletion]\n        bypass: "
	tell(t, []mistake{
		{garden("    protections: [{branch: main, pushers: [carl, guild/x]}]"), []string{
			`f:4: repos[0].protections[0].pushers: user "carl" not found`,
			`f:4: repos[0].protections[0].pushers: team "guild/x" of the repository's organization not found`}},
		{garden("    protections: [{branch: main, bypass: [bob]}]"), []string{
			`f:4: repos[0].protections[0]`}},
		{garden(bypass + "[bob, carl, {mode: always}, {role: reader}]"),
			[]string{`f:7: repos[0].rulesets[0].bypass[3].role: must be one of write, maintain, admin, owner`}},
		{garden(bypass + "[bob, carl, {mode: always}]"),
			[]string{`f:7: repos[0].rulesets[0].bypass[1]`, `f:7: repos[0].rulesets[0].bypass[2]`}},
	})
}

func TestErrorsInTrackers(t *testing.T) {
	t.Parallel()
	tell(t, []mistake{
		{garden("    labels:\n      - {name: x, color: red}\n      - {name: X}\n    milestones:\n      - {title: m, creator: c}\n      - {title: m, state: done}"), []string{
			"f:9: repos[0].milestones[1].state: must be one of open, closed"}},
		{garden("    labels:\n      - {name: x, color: red}\n      - {name: X}\n    milestones:\n      - {title: m, creator: c}\n      - {title: m}"), []string{
			"f:5: repos[0].labels[0].color: must be six hexadecimal digits, in quotes",
			`f:6: repos[0].labels[1].name: "X" is declared above`,
			`f:8: repos[0].milestones[0].creator: user "c" not found`,
			`f:9: repos[0].milestones[1].title: "m" is declared above`}},
		{garden("    issues:\n      - {title: ' '}\n      - title: x\n        author: carol\n        labels: [bug, lag]\n        assignees: [x, bob, bob]\n        milestone: M\n        closed_at: 2026-02-01\n        locked: angry\n      - {body: x}"), []string{
			"f:12: repos[0].issues[1].locked: must be true, false, off-topic, too heated, resolved or spam",
			"f:13: repos[0].issues[2]: title is missing"}},
		{garden("    issues:\n      - {title: ' '}\n      - title: x\n        author: carol\n        labels: [bug, lag]\n        assignees: [x, bob, bob]\n        milestone: M\n        closed_at: 2026-02-01\n        reactions: {love: [bob], heart: [y]}\n        comments:\n          - {body: x, author: z}"), []string{
			"f:5: repos[0].issues[0].title: is blank",
			`f:7: repos[0].issues[1].author: user "carol" not found`,
			`f:8: repos[0].issues[1].labels: alice/garden has no label "lag"`,
			`f:9: repos[0].issues[1].assignees: user "x" not found`,
			`f:9: repos[0].issues[1].assignees: "bob" stands here twice`,
			`f:10: repos[0].issues[1].milestone: alice/garden has no milestone "M"`,
			"f:11: repos[0].issues[1].closed_at: the issue is not closed",
			"f:12: repos[0].issues[1].reactions.love: is not a reaction",
			`f:12: repos[0].issues[1].reactions.heart: user "y" not found`,
			`f:14: repos[0].issues[1].comments[0].author: user "z" not found`}},
		{garden("    issues:\n      - {title: a, created_at: 2026-03-01}\n      - {title: b, created_at: 2026-02-01}\n      - {title: c, state: closed, closed_at: 2026-01-02}\n      - title: d\n        comments: [{body: x, created_at: 2026-01-05}]"), []string{
			"f:6: repos[0].issues[1].created_at: is before 2026-03-01T00:00:00Z, the time of what comes before it",
			"f:7: repos[0].issues[2].closed_at: is before created_at",
			"f:9: repos[0].issues[3].comments[0].created_at: is before 2026-02-01T02:00:00Z, the time of what comes before it"}},
		{garden("    has_issues: false\n    issues: [{title: x}]\n"),
			[]string{"f:5: repos[0].issues[0]: alice/garden has no issues"}},
		{garden("    files: {a: x}\n    pulls:\n      - {title: x, head: h}\n      - {title: x, head: 'bob:main', base: b}\n      - {title: x, head: main, merged_by: bob}\n      - title: x\n        head: main\n        reviewers: [r]\n        reviews:\n          - {author: q, state: comment}\n        statuses: [{state: success, ref: main}]"), []string{
			`f:6: repos[0].pulls[0].head: alice/garden has no branch "h"`,
			`f:7: repos[0].pulls[1].base: alice/garden has no branch "b"`,
			`f:7: repos[0].pulls[1].head: "bob" has no fork of alice/garden`,
			"f:8: repos[0].pulls[2].merged_by: the pull request is not merged",
			`f:11: repos[0].pulls[3].reviewers: user "r" not found`,
			`f:13: repos[0].pulls[3].reviews[0].author: user "q" not found`,
			"f:13: repos[0].pulls[3].reviews[0].state: a review that does not approve has a body or comments",
			"f:14: repos[0].pulls[3].statuses[0].ref: this is a status of the head"}},
		{people + "plants:\n  - {owner: carol, id: 1, name: x}\n  - {owner: bob, id: 1, name: y}\n  - {owner: bob, name: z}", []string{"f:5: plants[2]: id is missing"}},
		{people + "plants:\n  - {owner: carol, id: 1, name: x}\n  - {owner: bob, id: 1, name: y}", []string{
			`f:3: plants[0].owner: user "carol" not found`,
			"f:4: plants[1].id: the id 1 is declared above"}},
	})
}

// A small file can unfold to a huge one: it is refused soon and in little memory.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	bomb := "users:\n  - &u {login: a, tokens: &t [arb_aaaa, arb_aaaa, arb_aaaa, arb_aaaa, arb_aaaa, arb_aaaa, arb_aaaa, arb_aaaa]}\n" +
		strings.Repeat("  - *u\n", 200_000)
	merges := "users:\n  - &m0 {login: a}\n"
	for i := range 40 {
		merges += "  - &m" + string(rune('a'+i)) + " {<<: [*m0" +
			strings.Repeat(", *m"+string(rune('a'+max(i-1, 0))), min(i, 1)*9) + "]}\n"
	}
	loop := "users: &x\n  - &y {<<: *y, login: a}\n  - *x\n"
	for name, text := range map[string]string{"aliases": bomb, "merges": merges, "loop": loop} {
		if _, err := Parse("f", ".", []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		} else if len(err.Error()) > 1<<20 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
	if _, err := Parse("f", ".", make([]byte, MaxSize+1)); err == nil ||
		err.Error() != "f: is larger than 32 MiB" {
		t.Errorf("a large file: %v", err)
	}
}

// Aliases and merges are what test authors shorten their files with.
func TestAliases(t *testing.T) {
	t.Parallel()
	s, err := Parse("f", ".", []byte(`
users:
  - &person {login: alice, location: Ulm, bio: Here}
  - {<<: *person, login: bob, bio: There}
  - {<<: [{company: A}, {company: B, blog: c}], login: carol}
`))
	testkit.NoError(t, err)
	u := s.Users
	if len(u) != 3 || u[1].Login != "bob" || u[1].Location != "Ulm" || u[1].Bio != "There" ||
		u[2].Company != "A" || u[2].Blog != "c" {
		t.Errorf("read %+v", u)
	}
}

// What is given no time gets one that follows from its place.
func TestTimes(t *testing.T) {
	t.Parallel()
	s, err := Parse("f", ".", []byte(`
start: 2020-02-03
users: [{login: alice}]
repos:
  - name: alice/a
    files: {a: x}
    commits: [{message: m}, {message: n, date: 2021-01-01T10:00:00+02:00}, {message: o}]
    issues: [{title: a, comments: [{body: x}, {body: y}]}, {title: b}]
`))
	testkit.NoError(t, err)
	r := &s.Repos[0]
	for what, c := range map[string]struct {
		got  time.Time
		want string
	}{
		"user":               {s.Users[0].CreatedAt, "2020-02-03T00:00:00Z"},
		"repository":         {r.CreatedAt, "2020-02-03T00:01:00Z"},
		"first commit":       {r.steps[0].commit.Date, "2020-02-03T00:01:00Z"},
		"next commit":        {r.steps[1].commit.Date, "2020-02-03T00:02:00Z"},
		"commit with a date": {r.steps[2].commit.Date, "2021-01-01T08:00:00Z"},
		"the one after":      {r.steps[3].commit.Date, "2021-01-01T08:01:00Z"},
		"issue":              {r.Issues[0].CreatedAt, "2020-02-03T01:01:00Z"}, "comment": {r.Issues[0].Comments[1].CreatedAt, "2020-02-03T01:03:00Z"},
		"next issue": {r.Issues[1].CreatedAt, "2020-02-03T02:01:00Z"},
	} {
		if got := c.got.Format(time.RFC3339); got != c.want {
			t.Errorf("the %s has the time %s, not %s", what, got, c.want)
		}
	}
}

// Load reads a file, and says when there is none.
func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := Load(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	testkit.NoError(t, os.WriteFile(file, []byte("users: [{login: alice}]"), 0o600))
	s, err := Load(file)
	if err != nil || len(s.Users) != 1 || s.Dir != filepath.Dir(file) {
		t.Errorf("read %+v: %v", s, err)
	}
	if s, err := Parse("f", ".", nil); err != nil || len(s.Users) != 0 {
		t.Errorf("an empty file: %v", err)
	}
}

// A key that the reference does not tell of is one that nobody finds.
func TestReferenceIsComplete(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "seed.md"))
	testkit.NoError(t, err)
	_, reference, _ := strings.Cut(string(text), "## Every key")
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type) []string
	look = func(of reflect.Type) (missing []string) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return nil
		}
		seen[of] = true
		for _, f := range fieldsOf(of) {
			if !strings.Contains(reference, "`"+f.name+"`") {
				missing = append(missing, of.Name()+"."+f.name)
			}
			for _, e := range f.enum {
				if !strings.Contains(reference, e) {
					missing = append(missing, of.Name()+"."+f.name+": "+e)
				}
			}
			missing = append(missing, look(of.FieldByIndex(f.index).Type)...)
		}
		return missing
	}
	if missing := look(reflect.TypeFor[Seed]()); len(missing) > 0 {
		t.Errorf("docs/seed.md does not tell of %q", missing)
	}
	if len(seen) < 15 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

// Whatever a file holds is read or refused, soon.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "seed.md"))
	testkit.NoError(f, err)
	_, example, _ := strings.Cut(string(text), "## An example\n")
	example, _, _ = strings.Cut(example, "## Every key")
	f.Add([]byte(strings.ReplaceAll(example, "\n    ", "\n")))
	f.Add([]byte("users: &x\n  - &y {<<: *y, login: a}\n  - *x\n"))
	f.Add([]byte("users: [{login: a}]\nrepos:\n  - name: a/b\n    fork: a/c\n    pulls: [{title: x, head: 'a:b'}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f", ".", text)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || len(e.Problems) == 0 || s != nil) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
