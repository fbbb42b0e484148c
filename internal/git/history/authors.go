package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"arbor/internal/git"
	"arbor/internal/git/process"
)

// AuthorCount is how many commits of a history somebody wrote.
type AuthorCount struct {
	Name, Email string
	Commits     int64
}

// maxAuthor bounds an author's line in bytes; a longer one is nobody's.
const maxAuthor = 1000

// Authors counts the commits of a history by author, those with most first, at most
// most of them; merges count for nobody. One git process walks the whole history.
func Authors(
	ctx context.Context, r *git.Repository, tip git.SHA, most int,
) (list []AuthorCount, err error) {
	c := process.Command{Sub: "shortlog", Flags: []string{"-s", "-n", "-e", "--no-merges"}, Revs: []git.SHA{tip}}
	err = r.Stream(ctx, c, func(in *bufio.Reader) error {
		list, err = readAuthors(in, most)
		return err
	})
	return list, err
}

// readAuthors reads lines of a number, a tab, a name and an address in
// brackets. Lines that are not, or longer than maxAuthor, are nobody's. ErrStop
// where there are enough.
func readAuthors(in *bufio.Reader, most int) (list []AuthorCount, err error) {
	for {
		if len(list) == most {
			return list, git.ErrStop
		}
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull) || len(line) > maxAuthor
		if a, ok := readAuthor(line); ok && !long {
			list = append(list, a)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func readAuthor(line []byte) (a AuthorCount, ok bool) {
	number, who, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
	at := bytes.LastIndexByte(who, '<')
	if !ok || at < 0 || !bytes.HasSuffix(who, []byte(">")) {
		return a, false
	}
	a.Commits, _ = strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64)
	a.Name = string(bytes.ToValidUTF8(bytes.TrimSpace(who[:at]), []byte("\ufffd")))
	a.Email = string(bytes.ToValidUTF8(who[at+1:len(who)-1], []byte("\ufffd")))
	return a, a.Commits > 0
}
