package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// The commands of a page of the documentation that begins with <!-- tested --> work as pasted, in order, and
// print what the page says: its sh blocks are one script, and a text block is what the sh block before it prints.
// A page that names documentedDatabase runs where tests run on PostgreSQL.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "jq", "openssl", "ssh", "ssh-keygen"} {
		needProgram(t, program, "the commands of the documentation")
	}
	for _, page := range documents(t, "docs/*.md") {
		text, err := os.ReadFile(page)
		testkit.NoError(t, err)
		onPostgreSQL := strings.Contains(string(text), documentedDatabase)
		if onPostgreSQL && !slices.Contains(dbtest.Engines(), db.PostgreSQL) {
			continue
		}
		if strings.HasPrefix(string(text), "<!-- tested -->\n") {
			t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
				t.Parallel()
				page := string(text)
				if onPostgreSQL {
					page = strings.ReplaceAll(page, documentedDatabase, "'"+dbtest.Empty(t, db.PostgreSQL)+"'")
				}
				runPage(t, page)
			})
		}
	}
}

// documentedDatabase is the database in the commands of the documentation.
const documentedDatabase = "postgres://arbor:secret@localhost/arbor"

var documentedPort = regexp.MustCompile(`:\d{4}\b`)

var codeBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// runPage runs the sh blocks of a page. The ports that the page names become free ones.
func runPage(t *testing.T, text string) {
	env := append(gittest.Env(), collectLess, raceOptions(), "ARBOR_MIN_FREE_SPACE=0", // the disk may be nearly full
		leashVariable+"=3")
	ports := map[string]string{}
	free := func(port string) string {
		if ports[port] == "" {
			address := testkit.FreeAddress(t)
			ports[port] = address[strings.LastIndex(address, ":"):]
		}
		return ports[port]
	}
	env = append(env, "ARBOR_LISTEN=127.0.0.1"+free(":8080"))
	text = documentedPort.ReplaceAllStringFunc(text, free)
	script, want := "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n", []string{}
	for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
		switch block[1] {
		case "sh":
			script += block[2] + "echo ---\n"
			want = append(want, "")
		case "text":
			want[len(want)-1] = block[2]
		}
	}
	held, end, err := os.Pipe()
	testkit.NoError(t, err)
	defer end.Close()
	var stderr strings.Builder
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.ExtraFiles = t.TempDir(), env, &stderr, []*os.File{held}
	out, err := cmd.Output()
	held.Close()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	comparePage(t, strings.SplitAfter(string(out), "---\n"), want)
}

// comparePage compares what the blocks printed with the text blocks. A block without one may print anything.
func comparePage(t *testing.T, printed, want []string) {
	for n := range want {
		got := strings.TrimSpace(strings.TrimSuffix(printed[n], "---\n"))
		if want[n] != "" && got != strings.TrimSpace(want[n]) {
			t.Errorf("a block prints\n%s\nand the page says\n%s", got, want[n])
		}
	}
}

// documents are the files that a pattern below the project's folder matches.
func documents(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", pattern))
	if err != nil || len(found) == 0 {
		t.Fatal(pattern, err)
	}
	return found
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// What the page of symptoms quotes, the program says: people search for it. "..." stands for a value, and what git
// says of itself is not ours.
func TestSymptomsAreQuoted(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, folder := range []string{"../../internal", "."} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		testkit.NoError(t, err)
	}
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	testkit.NoError(t, err)
	said := strings.NewReplacer("%s", "...", "%q", "...").Replace(source.String())
	for line := range strings.Lines(string(page)) {
		symptom, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, quote := range quoted.FindAllStringSubmatch(symptom, -1) {
			text := strings.TrimSpace(strings.Trim(quote[1], "."))
			if text != "Authentication failed" && !strings.Contains(said, text) {
				t.Errorf("nothing says %q", quote[1])
			}
		}
	}
}

var markdownLink = regexp.MustCompile(`\]\(([^)\s:]*?)(#[^)]*)?\)`)

// Each link of README and the documentation leads to a file, and to a heading where it names one.
func TestDocumentedLinksLead(t *testing.T) {
	for _, page := range append(documents(t, "*.md"), documents(t, "docs/*.md")...) {
		text, err := os.ReadFile(page)
		testkit.NoError(t, err)
		for _, link := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			path := page
			if link[1] != "" {
				path = filepath.Join(filepath.Dir(page), link[1])
			}
			target, err := os.ReadFile(path)
			if err != nil && !isDir(path) {
				t.Errorf("%s: %s", page, err)
			} else if link[2] != "" && !hasHeading(string(target), link[2][1:]) {
				t.Errorf("%s: %s has no heading for %s", page, path, link[2])
			}
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 -]`)

func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		title := strings.TrimLeft(strings.TrimSpace(line), "#")
		if !strings.HasPrefix(line, "#") {
			continue
		}
		title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(title, " ", "-") == anchor {
			return true
		}
	}
	return false
}
