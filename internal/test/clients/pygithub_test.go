//go:build long

package clients

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A program in Python makes teams, protects a branch and brings a change past its rules.
func TestPyGithub(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3" // which finds Debian's packages
	if exec.CommandContext(t.Context(), python, "-c", "import github").Run() != nil {
		lacking(t, "PyGithub", "it is not on this machine. Get it with `apt-get install python3-github`")
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		tokens := map[string]string{}
		for _, login := range []string{"alice", "will", "sam"} {
			s.User(t, login)
			tokens[login] = s.Token(t, login)
		}
		s.Org(t, "garden", "alice")
		input, err := json.Marshal(map[string]any{"baseUrl": s.URL + "/api/v3", "tokens": tokens})
		testkit.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "pygithub", "main.py"))
		cmd.Stdin, cmd.Env = bytes.NewReader(input), environment("PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
