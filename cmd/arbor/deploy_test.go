package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"arbor/internal/test/testkit"
)

var inContainer = regexp.MustCompile(`(?m)^# .* exec .*\barbor ([a-z].*)$`)

// Operators paste the commands at the head of the files that start several nodes: these exist, with their flags.
func TestCommandsOfDeploymentsExist(t *testing.T) {
	t.Parallel()
	parser, _ := model(t)
	for _, file := range []string{"../../deploy/compose.yaml", "../../deploy/kubernetes.yaml"} {
		text, err := os.ReadFile(file)
		testkit.NoError(t, err)
		commands := inContainer.FindAllStringSubmatch(string(text), -1)
		if len(commands) == 0 {
			t.Errorf("%s does not say how to make an administrator", file)
		}
		for _, c := range commands {
			parsed, err := kong.Trace(parser, strings.Fields(c[1]))
			testkit.NoError(t, err)
			if parsed.Error != nil {
				t.Errorf("%s says arbor %s: %v", file, c[1], parsed.Error)
			}
		}
	}
}
