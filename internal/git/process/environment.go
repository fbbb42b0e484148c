package process

import (
	"os"
	"slices"
	"strconv"

	"arbor/internal/git/object"
)

// configuration overrides a repository's config.
func configuration() [][2]string {
	return slices.Concat(programs(), filters(), [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsync", "all"}, {"core.fsyncMethod", "fsync"},
		{"core.protectHFS", "true"}, {"core.protectNTFS", "true"},
		{"core.warnAmbiguousRefs", "false"}, // a full SHA is not looked for among refs first
		{"safe.directory", "*"}, {"protocol.allow", "never"},
		{"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"uploadpack.allowAnySHA1InWant", "true"},
		{"pack.writeReverseIndex", "true"},
		// Attributes come from noAttributes alone, never from what was pushed.
		{"attr.tree", string(object.EmptyTree)}, {"core.attributesFile", os.DevNull},
		{"core.excludesFile", os.DevNull},
		{"merge.default", "text"},
	})
}

// environment is that of every git process: nothing of the server's own
// environment but PATH, no configuration but ours, nothing to prompt with.
func environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ADVICE=0",
	}
	return append(env, settings(0, configuration())...)
}

// settings are those of git's configuration as the environment has them, numbered
// from first. Of one key the last counts; GIT_CONFIG_COUNT is the caller's.
func settings(first int, list [][2]string) []string {
	env := make([]string, 0, 2*len(list))
	for i, kv := range list {
		n := strconv.Itoa(first + i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return env
}

// Unsynced is for processes that write only temporary data, which we read back, sync and
// remove, so only speed counts.
func Unsynced() [][2]string {
	return [][2]string{
		{"core.fsync", "none"}, {"core.createObject", "rename"}, {"core.looseCompression", "1"},
	}
}
