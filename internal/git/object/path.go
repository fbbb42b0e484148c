package object

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a path that a request names, in bytes and in parts.
const (
	MaxTreePath  = 4096
	MaxTreeDepth = 512
)

// PathProblem says why a path cannot be an entry of mode m in a tree, in words
// for the client; nothing when it can. It refuses what `git fsck` and a
// checkout on any system refuse: empty, "." and ".." parts, and every name that means
// ".git" on a file system of Windows or macOS (decision 44). A backslash is a
// plain character, but counts as a separator there.
func PathProblem(path string, m Mode) string {
	switch {
	case path == "":
		return "is empty"
	case len(path) > MaxTreePath:
		return "is too long"
	case strings.IndexByte(path, 0) >= 0:
		return "contains NUL"
	case path[0] == '/':
		return "is absolute"
	}
	for depth, rest := 1, path; ; depth++ {
		part, after, more := strings.Cut(rest, "/")
		kind := ModeTree
		if !more {
			kind = m
		}
		switch {
		case depth > MaxTreeDepth:
			return "has too many parts"
		case part == "":
			return "has an empty part"
		}
		if problem := partProblem(part, kind); problem != "" {
			return problem
		}
		if !more {
			return ""
		}
		rest = after
	}
}

// partProblem is PathProblem for one name in a tree.
func partProblem(part string, m Mode) string {
	if part == "." || part == ".." {
		return `has a "." or ".." part`
	}
	if isHFSName(part, ".git") {
		return `has a part that means ".git"`
	}
	for name, rest, more := "", part, true; more; {
		name, rest, more = strings.Cut(rest, `\`)
		if isNTFSDotGit(name) {
			return `has a part that means ".git"`
		}
	}
	switch special := SpecialFile(part); {
	case special == "":
		return ""
	case m == ModeTree || m == ModeSubmodule:
		return "has a part that means \"" + special + "\", which must be a file"
	case m == ModeSymlink && special == ".gitmodules":
		return `means ".gitmodules", which must not be a symbolic link`
	}
	return ""
}

// SpecialFile reports whether a name stands for .gitmodules or .gitattributes, be
// it in disguise: files whose contents git checks. Empty for all others.
func SpecialFile(part string) string {
	for _, f := range [...]struct{ name, fallback string }{{".gitmodules", "gi7eba"},
		{".gitattributes", "gi7d29"}} {
		if isHFSName(part, f.name) {
			return f.name
		}
		for name, rest, more := "", part, true; more; {
			name, rest, more = strings.Cut(rest, `\`)
			if isNTFSName(name, f.name, f.fallback) {
				return f.name
			}
		}
	}
	return ""
}

// isHFSName reports whether macOS takes part for name, which is lower case: it
// ignores some code points, and case.
func isHFSName(part, name string) bool {
	for len(part) > 0 {
		c, size := utf8.DecodeRuneInString(part)
		if c == utf8.RuneError && size == 1 {
			return false
		}
		part = part[size:]
		if isHFSIgnored(c) {
			continue
		}
		if name == "" || c > 0x7f || lower(byte(c)) != name[0] {
			return false
		}
		name = name[1:]
	}
	return name == ""
}

func isHFSIgnored(c rune) bool {
	return c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e ||
		c >= 0x206a && c <= 0x206f || c == 0xfeff
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// isNTFSDotGit reports whether Windows takes name for .git, or for the short
// name that it gives a folder of that name.
func isNTFSDotGit(name string) bool {
	for _, prefix := range [...]string{".git", "git~1"} {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) &&
			endsNTFS(name[len(prefix):]) {
			return true
		}
	}
	return false
}

// endsNTFS reports that Windows ignores what follows a name: dots, spaces, and
// all behind a colon, which names a stream of the file.
func endsNTFS(rest string) bool {
	rest = strings.TrimLeft(rest, " .")
	return rest == "" || rest[0] == ':'
}

// isNTFSName reports whether Windows takes part for the file called name: as it
// stands, by a short name made of its first six letters, or by one made of a
// hash when those are taken.
func isNTFSName(part, name, fallback string) bool {
	if len(part) >= len(name) && strings.EqualFold(part[:len(name)], name) && endsNTFS(part[len(name):]) {
		return true
	}
	if len(part) < 8 {
		return false
	}
	short, rest := part[:8], part[8:]
	if strings.EqualFold(short[:6], name[1:7]) && short[6] == '~' && short[7] >= '1' && short[7] <= '4' {
		return endsNTFS(rest)
	}
	letters, number, ok := strings.Cut(short, "~")
	if !ok || len(letters) > 6 || !strings.EqualFold(letters, fallback[:len(letters)]) || number[0] == '0' {
		return false
	}
	for _, c := range []byte(number) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return endsNTFS(rest)
}
