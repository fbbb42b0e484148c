package issuetest

import (
	"math/rand/v2"
	"strings"
)

var (
	firstNames = [...]string{"ada", "ben", "cleo", "dan", "eva", "finn", "gia", "hugo", "iris", "jon", "kim",
		"leo", "mia", "noa", "otto"}
	defaults = [...]string{"bug", "documentation", "duplicate", "enhancement", "good first issue",
		"help wanted", "invalid", "question", "wontfix"}
	areas = [...]string{"api", "build", "cache", "cli", "config", "core", "database", "deploy", "editor",
		"export", "import", "login",
		"mail", "network", "parser", "search", "session", "storage", "table", "theme", "upload",
		"widget", "worker", "router"}
	faults = [...]string{"crashes", "hangs", "loses data", "is slow", "shows nothing", "leaks memory",
		"ignores the setting", "fails silently",
		"reports the wrong size", "repeats itself", "times out", "eats a whole core", "forgets its state",
		"prints twice"}
	whens = [...]string{"after an upgrade", "on Windows", "with two users at once", "when the disk is full",
		"behind a proxy", "on the first start",
		"with long names", "in a dark theme", "without a network", "during a backup", "for new accounts",
		"under load"}
	wishes = [...]string{"Let", "Allow", "Teach", "Make", "Support", "Document", "Speed up",
		"Simplify", "Test", "Rework"}
	common = strings.Fields(
		`the a it this that when then with without after before every page button line server user test log file
		folder error message again always never sometimes because should would could open close start stop version machine second
		minute expected happened instead nothing something found missing broken fixed tried changed works fails same other new old
		and or but so of in on to from for`)
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// title is what an issue is called.
func title(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return pick(r, wishes[:]) + " the " + pick(r, areas[:]) + " " + pick(r, whens[:])
	}
	t := "The " + pick(r, areas[:]) + " " + pick(r, faults[:]) + " " + pick(r, whens[:])
	if r.IntN(3) == 0 {
		t += ", and the " + pick(r, areas[:]) + " " + pick(r, faults[:])
	}
	return t
}

// sentence is some words of no great sense.
func sentence(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("The " + pick(r, areas[:]))
	for range 5 + r.IntN(12) {
		b.WriteByte(' ')
		b.WriteString(pick(r, common))
	}
	b.WriteByte('.')
	return b.String()
}

// body is Markdown of about 300 bytes that mentions the logins.
func body(r *rand.Rand, mentioned []string) string {
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteString(sentence(r) + " ")
	}
	b.WriteString("\n\n1. Open the `" + pick(r, areas[:]) + "`\n2. It *" + pick(r, faults[:]) + "*\n")
	if r.IntN(2) == 0 {
		b.WriteString("\n```\n" + pick(r, areas[:]) + ": " + pick(r, common) + " " + pick(r,
			common) + "\n```\n")
	}
	for n, login := range mentioned {
		if n == 0 {
			b.WriteString("\ncc")
		}
		b.WriteString(" @" + login)
	}
	return b.String()
}
