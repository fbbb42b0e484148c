package review

import (
	"context"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/pull"
)

// spot is a position in a patch.
type spot struct {
	Position int64 // 0: outdated; 1 for a whole file
	Line     int64 // in the file; 0 for a whole file
	Start    int64 // first line of a range; 0: a single line
}

// Anchor is the position of a comment: lines of a file or a whole file, in the pull request's changes up to
// a commit.
type Anchor struct {
	Commit    git.SHA
	Path      string
	Whole     bool
	Side      Side
	StartSide Side // 0: a single line
	Spot      spot // if only Position is set, place finds the line
}

// covers checks that the commit is the pull request's head or one of its other commits. Error: 422.
func (s *Service) covers(ctx context.Context, p *pull.Pull, commit git.SHA) error {
	if commit == p.HeadSHA {
		return nil
	}
	objects, release, err := s.repos.GitOf(ctx, p.RepoID)
	if err != nil {
		return err
	}
	defer release()
	list, _, err := objects.PullCommits(ctx, p.BaseSHA, p.HeadSHA)
	if err == nil && !slices.Contains(list, commit) {
		err = custom("commit_id", "commit_id is not part of the pull request")
	}
	return err
}

// changes returns the pull request's changes up to a commit in the named files.
func (s *Service) changes(
	ctx context.Context, p *pull.Pull, commit git.SHA, names []string,
) (*diff.Changes, error) {
	objects, release, err := s.repos.GitOf(ctx, p.RepoID)
	if err != nil {
		return nil, err
	}
	defer release()
	common, err := objects.PullBase(ctx, p.BaseSHA, commit)
	if err != nil {
		return nil, err
	}
	return diff.FilesNamed(ctx, objects, common, commit, names)
}

// place completes the anchors, which all have the same commit, and returns the hunk of each. It runs a
// fixed number of git processes. Error: 422 for an anchor that is not in the diff.
func (s *Service) place(
	ctx context.Context, p *pull.Pull, commit git.SHA, list []*Anchor,
) (hunks []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	names := make([]string, len(list))
	for n, a := range list {
		names[n] = a.Path
	}
	changes, err := s.changes(ctx, p, commit, names)
	if err != nil {
		return nil, err
	}
	patches := map[string][]patchLine{}
	hunks = make([]string, len(list))
	var wrong []errs.Field
	for n, a := range list {
		a.Commit = commit
		f := byPath(changes, a.Path)
		if f == nil {
			wrong = append(wrong, notPart("path"))
			continue
		}
		lines, ok := patches[a.Path]
		if !ok {
			lines = parsePatch(f.Patch)
			patches[a.Path] = lines
		}
		hunk, bad := a.settle(lines)
		if bad != nil {
			wrong = append(wrong, *bad)
		}
		hunks[n] = hunk
	}
	if len(wrong) > 0 {
		return nil, errs.Validation(wrong...)
	}
	return hunks, nil
}

// notPart returns GitHub's error for an anchor that is not in the diff.
func notPart(field string) errs.Field {
	return thread(field, "must be part of the diff")
}

func thread(field, message string) errs.Field {
	field = "pull_request_review_thread." + field
	return errs.Field{Resource: CommentResource, Field: field, Code: errs.Custom,
		Message: field + " " + message}
}

// settle completes the anchor from the patch of its file and returns its hunk, or an error.
func (a *Anchor) settle(lines []patchLine) (hunk string, bad *errs.Field) {
	if a.Whole {
		a.Side, a.StartSide, a.Spot = Right, 0, spot{Position: 1}
		return "", nil
	}
	fail := func(f errs.Field) (string, *errs.Field) { return "", &f }
	if a.Spot.Line == 0 {
		n := a.Spot.Position
		if n < 1 || n >= int64(len(lines)) || lines[n].kind == '@' || lines[n].kind == '\\' {
			return fail(notPart("position"))
		}
		l := lines[n]
		a.Side, a.Spot.Line = Right, l.new
		if l.kind == '-' {
			a.Side, a.Spot.Line = Left, l.old
		}
		return hunkText(lines, int(n)), nil
	}
	at := find(lines, a.Side, a.Spot.Line)
	if at < 0 {
		return fail(notPart("line"))
	}
	a.Spot.Position = lines[at].position
	if a.Spot.Start != 0 {
		switch from := find(lines, a.StartSide, a.Spot.Start); {
		case from < 0:
			return fail(notPart("start_line"))
		case from >= at:
			return fail(thread("start_line", "must precede the end line."))
		case hunkOf(lines, from) != hunkOf(lines, at):
			return fail(thread("start_line", "must be part of the same hunk as the line."))
		}
	}
	return hunkText(lines, at), nil
}
