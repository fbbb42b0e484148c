package object

import (
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// The bounds of ref names, in bytes.
const (
	MaxRefName     = 1024 // a whole name
	maxRefNamePart = 255  // a part between slashes, as on a file system
)

// CheckRefName says whether a ref may be made: its name is as CheckOldRefName
// says, no part of it begins with a dash, where a program may take it for an
// option, and it is not a branch or tag named HEAD, which would make HEAD ambiguous.
// The error is Invalid.
func CheckRefName(name string) error {
	switch {
	case strings.Contains(name, "/-"):
		return badRefName(name, "a part begins with a dash")
	case name == "refs/heads/HEAD" || name == "refs/tags/HEAD":
		return badRefName(name, "no branch or tag may be named HEAD")
	}
	return CheckOldRefName(name)
}

// CheckOldRefName accepts what `git check-ref-format` accepts, if it begins with
// "refs/", is valid UTF-8, within MaxRefName, and its last part does not look
// like a SHA (decision 50). Refs that exist may have such names; CheckRefName is for
// new ones. The error is Invalid.
func CheckOldRefName(name string) error {
	if reason := refNameProblem(name); reason != "" {
		return badRefName(name, reason)
	}
	return nil
}

func badRefName(name, reason string) error {
	return errs.Newf(errs.Invalid, "bad ref name %q: %s", errs.Clip(name), reason)
}

// refNameProblem says what is wrong with name; nothing when it is fine.
func refNameProblem(name string) string {
	switch {
	case len(name) > MaxRefName:
		return "too long"
	case !utf8.ValidString(name):
		return "not valid UTF-8"
	case !strings.HasPrefix(name, "refs/"):
		return "not below refs/"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return `contains ".." or "@{"`
	}
	for _, c := range []byte(name) {
		if c < 0x20 || c == 0x7f || strings.IndexByte(" ~^:?*[\\", c) >= 0 {
			return "contains a forbidden character"
		}
	}
	part := ""
	for rest, more := name, true; more; {
		part, rest, more = strings.Cut(rest, "/")
		switch {
		case part == "":
			return "has an empty part"
		case part[0] == '.':
			return "a part begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return `a part ends with ".lock"`
		case len(part) > maxRefNamePart:
			return "a part is too long"
		}
	}
	if IsSHA(part) {
		return "looks like a SHA"
	}
	return ""
}
