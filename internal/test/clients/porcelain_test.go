//go:build long

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// People type gh issue list, and not gh api: these commands ask for GraphQL. They work in the three ways in
// which gh reaches a server: as github.com over a socket, as a GitHub Enterprise host, and as
// github.localhost through a proxy.
func TestGHPorcelain(t *testing.T) {
	t.Parallel()
	need(t, "gh", "gh", "gh")
	files, err := filepath.Glob(filepath.Join("testdata", "porcelain", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no stories: %v", err)
	}
	for name, way := range map[string]struct {
		engine  db.Engine
		address func(*testing.T) string
		reach   func(*testscript.Env, *apitest.Server) error
	}{
		"github": {db.SQLite, socket, overSocket}, "enterprise": {db.PostgreSQL, socket, asEnterprise},
		"localhost": {db.PostgreSQL, anyPort, throughProxy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
					t.Parallel()
					script(t, apitest.StartOn(t, way.engine, way.address(t)), file, way.reach)
				})
			}
		})
	}
}

// asEnterprise makes gh use the server as a GitHub Enterprise host.
func asEnterprise(e *testscript.Env, s *apitest.Server) error {
	config := "http_unix_socket: " + strings.TrimPrefix(s.Address, "unix:") + "\n"
	e.Setenv("HOST", "hub.example.org")
	e.Setenv("GH_HOST", "hub.example.org")
	return os.WriteFile(filepath.Join(e.Getenv("GH_CONFIG_DIR"), "config.yml"), []byte(config), 0o600)
}
