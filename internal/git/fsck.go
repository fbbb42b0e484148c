package git

import "strings"

// tolerated are the checks of `git fsck` that a push may fail: flaws which old
// real histories carry for ever, since mending them would change every SHA
// after them, and which only make an author line or a mode look odd. Package
// git reads all of them leniently.
//
// All others stay fatal, the warnings of git's own among them: names that mean
// ".git" somewhere, "." and "..", empty and slashed names, null SHAs, entries
// twice or out of order (two readers would see two trees), NUL bytes in a
// commit (two readers would see two messages), hostile .gitmodules files.
func tolerated() []string {
	return []string{
		"zeroPaddedFilemode",     // "040000", by early GitHub and libgit clients
		"badTimezone",            // "+051800", "+0000000"
		"missingSpaceBeforeDate", // "<a@b>1234567890 +0000", by importers
		"zeroPaddedDate",
		"missingEmail", // "A U Thor 1234567890 +0000"
		"missingNameBeforeEmail",
		"missingSpaceBeforeEmail",
		"badEmail", // a ">" or "<" too many
		"badName",
	}
}

// strictOption is the option of index-pack for these checks.
func strictOption() string {
	return "--strict=" + strings.Join(tolerated(), "=ignore,") + "=ignore"
}
