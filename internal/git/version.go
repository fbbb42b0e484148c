package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is a file that is the same as long as nobody replaces it.
type program struct {
	path    string
	size    int64
	changed time.Time
}

// versions are what programs said of themselves in this process, by program: an answer takes a process.
var versions sync.Map

// versionOf asks a git for its version, and refuses one that is too old.
func versionOf(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	key := program{path, info.Size(), info.ModTime()}
	if said, ok := versions.Load(key); ok {
		return said.(string), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", path, err)
	}
	said, err := checkVersion(string(out))
	if err == nil {
		versions.Store(key, said)
	}
	return said, err
}

// checkVersion takes the number out of what `git version` prints and refuses
// versions whose commands lack what this package uses.
func checkVersion(output string) (string, error) {
	fields := strings.Fields(output)
	if len(fields) < 3 || fields[0] != "git" {
		return "", fmt.Errorf("not a git: version is %q", output)
	}
	parts := strings.SplitN(fields[2], ".", 3)
	if len(parts) < 2 {
		return "", fmt.Errorf("git version %q is not a number", fields[2])
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return "", fmt.Errorf("git version %q is not a number", fields[2])
	}
	// 2.39.0 can be made to write anywhere in its memory by a format that a file
	// of an archive asks for (CVE-2022-41903).
	if major < 2 || major == 2 && (minor < 39 || minor == 39 && (len(parts) < 3 || parts[2] == "0")) {
		return "", fmt.Errorf("git %s is too old: 2.39.1 or newer is needed", fields[2])
	}
	return fields[2], nil
}
