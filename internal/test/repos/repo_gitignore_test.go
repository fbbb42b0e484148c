package repos_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A template that git does not read, or that ignores the sources themselves, is worse than none.
func TestTemplatesIgnore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ignored, kept string }{
		"Go": {"x.test", "x.go"}, "Python": {"a/__pycache__/x", "a/x.py"},
		"Node": {"node_modules/x", ".env.example"},
		"Rust": {"target/x", "src/main.rs"}, "Java": {"x.class", "x.java"}, "C++": {"x.o", "x.cc"},
		"Ruby": {"x.gem", "x.rb"},
	} {
		text, known := repo.Gitignore(name)
		if !known {
			t.Errorf("there is no template %s", name)
			continue
		}
		dir := t.TempDir()
		testkit.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o600))
		git := func(args ...string) error {
			return exec.Command("git", append([]string{"-C", dir}, args...)...).Run()
		}
		testkit.NoError(t, git("init", "-q"))
		if git("check-ignore", "-q", c.ignored) != nil || git("check-ignore", "-q", c.kept) == nil {
			t.Errorf("%s: wants %s ignored and %s kept", name, c.ignored, c.kept)
		}
	}
}

// Programs that make repositories offer the list, and show one of it.
func TestGitignoreAPI(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	text, _ := repo.Gitignore("C++")
	s.Run(t, []apitest.Case{
		{Do: "GET /gitignore/templates", Status: 200},
		{Do: "GET /gitignore/templates/Go", Status: 200, Want: `{"name": "Go"}`},
		{Do: "GET /gitignore/templates/C++",
			Headers: map[string]string{"Accept": "application/vnd.github.raw"}, Status: 200, Body: text},
		{Do: "GET /gitignore/templates/go", Status: 404},
		{Do: "GET /gitignore/templates/..%2Fgitignore", Status: 404},
		{Do: "GET /gitignore/templates/", Status: 404},
	})
	for _, name := range repo.Gitignores() {
		s.Check(t, apitest.Case{Do: "GET /gitignore/templates/" + name, Status: 200})
	}
}
