package ssh

import (
	"strings"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/transport"
)

// command is git's request: one of its services for a repository.
type command struct {
	service     string
	owner, name string // as sent by the client; name may end with .git
	upload      bool   // of git-lfs-authenticate and git-lfs-transfer: objects are uploaded
}

// authenticate is the command with which git lfs asks for a token.
const authenticate = "git-lfs-authenticate"

// transfer is the command with which git lfs transfers objects over SSH alone.
const transfer = "git-lfs-transfer"

// maxCommand bounds a command line in bytes.
const maxCommand = 1024

// parseCommand parses a command line: git-upload-pack 'OWNER/NAME.git', or git upload-pack ..., or
// git-lfs-authenticate or git-lfs-transfer OWNER/NAME.git upload. The path may
// start and end with a slash. Words are quoted as by git, without expansion. Error: Invalid, with a message
// for people.
func parseCommand(line string) (command, error) {
	if len(line) > maxCommand {
		return command{}, errs.New(errs.Invalid, "the command is too long")
	}
	words, ok := split(line)
	if ok && len(words) > 1 && words[0] == "git" {
		words = append([]string{"git-" + words[1]}, words[2:]...)
	}
	if !ok || len(words) == 0 {
		return command{}, errCommand()
	}
	c := command{service: words[0]}
	if c.service == authenticate || c.service == transfer {
		if len(words) < 3 || len(words) > 4 || words[2] != "upload" && words[2] != "download" { // some send an id
			return command{}, errs.Newf(errs.Invalid, "%s takes OWNER/NAME and download or upload", c.service)
		}
		c.upload = words[2] == "upload"
		words = words[:2]
	} else if _, known := transport.RoleOfService(c.service); !known {
		return command{}, errCommand()
	}
	if len(words) != 2 {
		return command{}, errs.Newf(errs.Invalid, "%s takes one repository: OWNER/NAME", c.service)
	}
	path := strings.TrimSuffix(strings.TrimPrefix(words[1], "/"), "/")
	if c.owner, c.name, ok = strings.Cut(path, "/"); !ok || c.owner == "" || c.name == "" ||
		!plain(c.owner) ||
		!plain(c.name) {
		return command{}, errs.New(errs.NotFound, "Repository not found.")
	}
	return c, nil
}

func errCommand() error {
	return errs.New(errs.Invalid,
		"Arbor runs git-upload-pack, git-receive-pack, git-lfs-transfer and git-lfs-authenticate over SSH, and no other "+
			"command.")
}

// plain reports a word that could be a login or a name. What could not is never looked up.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return len(s) <= repo.MaxName+len(".git")
}

// split splits a line at spaces. Single and double quotes group words, and a backslash outside of single
// quotes escapes the next byte. ok is false for an unterminated quote.
func split(line string) (words []string, ok bool) {
	var word strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != '\'' && c == '\\':
			if i++; i == len(line) {
				return nil, false
			}
			word.WriteByte(line[i])
			begun = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == c && quote != 0:
			quote = 0
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}
