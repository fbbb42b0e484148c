package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// commitStep is one commit of the demo's history.
type commitStep struct {
	branch, author, message string
	files                   map[string]string // path to content; empty content deletes
	merge                   string            // a branch that is merged in
}

// The issue forms of the demo, an example to copy.
var (
	//go:embed demo/ISSUE_TEMPLATE/bug_report.yml
	demoBugForm string
	//go:embed demo/ISSUE_TEMPLATE/feature_request.yml
	demoFeatureForm string
	//go:embed demo/ISSUE_TEMPLATE/config.yml
	demoFormSettings string
)

// demoSteps tell how a small project came to be.
func demoSteps() []commitStep {
	readme := "# greenhouse\n\nKeeps the climate of a greenhouse.\n"
	return []commitStep{
		{"main", "alice", "Begin the greenhouse",
			map[string]string{"README.md": readme, ".gitignore": "/out\n"}, ""},
		{"main", "alice", "Measure the temperature", map[string]string{
			"climate/temperature.go": "package climate\n\n// Comfortable reports a temperature in °C that seedlings like.\nfunc Comfortable(celsius float64) bool { return celsius > 12 && celsius < 28 }\n"}, ""},
		{"main", "bob", "Measure the humidity too", map[string]string{
			"climate/humidity.go": "package climate\n\n// Damp reports a relative humidity that invites mould.\nfunc Damp(percent float64) bool { return percent > 85 }\n"}, ""},
		{"windows", "bob", "Open the windows when it gets hot", map[string]string{
			"windows/open.go": "package windows\n\n// Angle is how far to open, in degrees.\nfunc Angle(celsius float64) float64 { return max(0, min(45, (celsius-20)*5)) }\n"}, ""},
		{"main", "alice", "Say how to contribute", map[string]string{
			".github/ISSUE_TEMPLATE/bug_report.yml":      demoBugForm,
			".github/ISSUE_TEMPLATE/config.yml":          demoFormSettings,
			".github/ISSUE_TEMPLATE/feature_request.yml": demoFeatureForm,
			"CONTRIBUTING.md":                            "Plant an idea, water it, send it.\n",
			"docs/calendar.txt":                          "March: sow\nMay: move out\n"}, ""},
		{"windows", "bob", "Close them at night", map[string]string{
			"windows/night.go": "package windows\n\n// Closed reports the hours of the day in which windows stay shut.\nfunc Closed(hour int) bool { return hour < 6 || hour > 21 }\n"}, ""},
		{"main", "alice", "Merge branch 'windows'", map[string]string{
			"windows/open.go":  "package windows\n\n// Angle is how far to open, in degrees.\nfunc Angle(celsius float64) float64 { return max(0, min(45, (celsius-20)*5)) }\n",
			"windows/night.go": "package windows\n\n// Closed reports the hours of the day in which windows stay shut.\nfunc Closed(hour int) bool { return hour < 6 || hour > 21 }\n"}, "windows"},
		{"irrigation", "bob", "Draft the irrigation",
			map[string]string{"irrigation/plan.md": "Rain barrel -> pump -> beds\n"}, ""},
	}
}

// demoStart is the time of the first commit; each later one is a day after.
const demoStart = 1_772_000_000

// makeHistory builds a real repository with git in a folder below dir, and
// returns its path.
func makeHistory(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "demo-history.git")
	if err := demoGit(ctx, "", nil, "init", "--quiet", "--bare", path); err != nil {
		return "", err
	}
	if err := demoGit(ctx, path, fastImport(demoSteps()), "fast-import", "--quiet"); err != nil {
		os.RemoveAll(path)
		return "", err
	}
	return path, demoGit(ctx, path, nil, "symbolic-ref", "HEAD", "refs/heads/main")
}

// fastImport writes the steps in the language of git fast-import.
func fastImport(steps []commitStep) []byte {
	var b bytes.Buffer
	born := map[string]bool{}
	for i, s := range steps {
		name := strings.ToUpper(s.author[:1]) + s.author[1:]
		who := fmt.Sprintf("%s <%s@example.org> %d +0000", name, s.author, demoStart+i*86400)
		fmt.Fprintf(&b, "commit refs/heads/%s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n",
			s.branch, i+1, who, who, len(s.message), s.message)
		if !born[s.branch] && s.branch != "main" {
			fmt.Fprintf(&b, "from refs/heads/main\n")
		}
		born[s.branch] = true
		if s.merge != "" {
			fmt.Fprintf(&b, "merge refs/heads/%s\n", s.merge)
		}
		for _, path := range sortedKeys(s.files) {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", path, len(s.files[path]), s.files[path])
		}
		b.WriteByte('\n')
	}
	tagger := fmt.Sprintf("Alice <alice@example.org> %d +0000", demoStart+len(steps)*86400)
	fmt.Fprintf(&b, "tag v0.1.0\nfrom refs/heads/main\ntagger %s\ndata 13\nFirst harvest\n", tagger)
	return b.Bytes()
}

// demoGit runs git without the user's own configuration.
func demoGit(ctx context.Context, dir string, stdin []byte, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
