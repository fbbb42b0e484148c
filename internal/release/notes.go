package release

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of generated notes: how far back the previous tag is looked for, how many commits are asked which
// pull request they merged, and the length of the text in bytes. What is beyond is behind the link to the
// full changelog.
const (
	maxWalked    = 10_000
	maxOfNotes   = 2_000
	maxNoteBytes = 100_000
)

// NotesRequest says which changes notes are about.
type NotesRequest struct {
	Tag      string // that there is, or will be
	Target   string // where a tag that is missing will be: a branch or a SHA; empty: the default branch
	Previous string // the tag since which; empty: the nearest one in the history
}

// mergedPull is a pull request that was merged.
type mergedPull struct {
	number   int64
	title    string
	authorID account.ID
	mergedAt db.Time
}

// POST /repos/{owner}/{repo}/releases/generate-notes
//
// GenerateNotes answers a title and a text for a release: the pull requests that were merged since the
// previous tag, who contributed for the first time, and a link to all changes. Nothing is stored. Errors:
// 422.
func (api *API) GenerateNotes(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("tag_name")
	n := NotesRequest{Tag: body.String("tag_name", MaxTag).Value,
		Target:   body.String("target_commitish", MaxTag).Value,
		Previous: body.String("previous_tag_name", MaxTag).Value}
	if config := body.String("configuration_file_path", 0); config.Value != "" {
		body.Wrong("configuration_file_path", errs.InvalidField, "configuration files are not supported")
	}
	if err := body.Err(); err != nil {
		return err
	}
	notes, err := api.s.GenerateNotes(r.Context(), a, n)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, map[string]string{"name": n.Tag, "body": notes})
}

// GenerateNotes is Notes for a request of its own. Errors: those of Notes; 422 for a tag that is missing or too long.
func (s *Service) GenerateNotes(ctx context.Context, a *repo.Access, n NotesRequest) (string, error) {
	e := Edit{Tag: web.Some(n.Tag), Target: web.Some(n.Target)}
	if err := e.check(true); err != nil {
		return "", err
	}
	notes, err := s.Notes(ctx, a, n)
	if err == nil {
		err = s.db.Read(ctx, a.Holds) // no transaction has asked for the right again
	}
	return notes, err
}

// addNotes appends generated notes to the text of a new release, and sets its name unless it has one.
func (s *Service) addNotes(ctx context.Context, a *repo.Access, e *Edit) error {
	notes, err := s.Notes(ctx, a, NotesRequest{Tag: e.Tag.Value, Target: e.Target.Value})
	if err != nil {
		return err
	}
	if e.Name.Value == "" {
		e.Name = web.Opt[string]{Set: true, Value: e.Tag.Value}
	}
	if e.Body.Value != "" {
		notes = e.Body.Value + "\n\n" + notes
	}
	if len([]rune(notes)) > MaxBody {
		return invalid("body", errs.Custom, "body is too long (maximum is 125000 characters with the notes)")
	}
	e.Body = web.Opt[string]{Set: true, Value: notes}
	return nil
}

// Notes writes the text for a release. Errors: 422 for a tag that cannot be one, for a target that is no
// commit and a previous tag that is not there.
func (s *Service) Notes(ctx context.Context, a *repo.Access, n NotesRequest) (string, error) {
	if git.CheckRefName("refs/tags/"+n.Tag) != nil {
		return "", invalid("tag_name", errs.Custom, "tag_name is not well-formed")
	}
	if n.Target == "" {
		n.Target = a.DefaultBranch
	}
	head, err := s.tagged(ctx, a, n.Tag)
	if errs.Is(err, errs.NotFound) {
		head, err = s.target(ctx, a, n.Target)
	}
	if err != nil {
		return "", err
	}
	var since git.SHA
	if n.Previous != "" {
		since, err = s.tagged(ctx, a, n.Previous)
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
			return "", errs.Validation(errs.Field{Resource: Resource, Field: "previous_tag_name",
				Code: errs.InvalidField, Value: n.Previous})
		}
	} else {
		n.Previous, since, err = s.previous(ctx, a, n.Tag, head)
	}
	if err != nil {
		return "", err
	}
	pulls, err := s.mergedBetween(ctx, a, since, head)
	if err != nil {
		return "", err
	}
	return s.writeNotes(ctx, a, n, pulls)
}

// tagged finds the commit of a tag. Errors: 404, 422 for a tag of something else.
func (s *Service) tagged(ctx context.Context, a *repo.Access, tag string) (git.SHA, error) {
	sha, err := s.repos.Ref(ctx, a, "refs/tags/"+tag)
	if err != nil {
		return "", err
	}
	return s.commitOf(ctx, a, sha)
}

// previous finds the nearest tag in the history of a commit, of several on one commit the highest version.
// There may be none: then both are empty.
func (s *Service) previous(
	ctx context.Context, a *repo.Access, except string, head git.SHA,
) (string, git.SHA, error) {
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return "", "", err
	}
	tags := map[git.SHA]string{}
	for _, ref := range refs.List {
		name, ok := strings.CutPrefix(ref.Name, "refs/tags/")
		if !ok || name == except {
			continue
		}
		sha := ref.SHA
		if ref.Peeled != "" {
			sha = ref.Peeled
		}
		if other, ok := tags[sha]; !ok || CompareVersions(name, other) > 0 {
			tags[sha] = name
		}
	}
	delete(tags, head)
	if len(tags) == 0 {
		return "", "", nil
	}
	commits, err := s.history(ctx, a, git.LogOptions{From: []git.SHA{head}, Max: maxWalked})
	if err != nil {
		return "", "", err
	}
	for _, sha := range commits {
		if tag, ok := tags[sha]; ok {
			return tag, sha, nil
		}
	}
	return "", "", nil
}

func (s *Service) history(ctx context.Context, a *repo.Access, o git.LogOptions) ([]git.SHA, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	shas, _, _, err := objects.Log(ctx, o)
	return shas, err
}

// mergedBetween lists the pull requests that were merged by the commits of one history that are not in
// another one, in the order in which they were merged.
func (s *Service) mergedBetween(
	ctx context.Context, a *repo.Access, since, head git.SHA,
) ([]mergedPull, error) {
	o := git.LogOptions{From: []git.SHA{head}, Max: maxOfNotes}
	if since != "" {
		o.Not = []git.SHA{since}
	}
	commits, err := s.history(ctx, a, o)
	if err != nil {
		return nil, err
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]mergedPull, error) { return mergedBy(tx, a.ID, commits) })
}

// writeNotes writes the notes of some pull requests.
func (s *Service) writeNotes(
	ctx context.Context, a *repo.Access, n NotesRequest, pulls []mergedPull,
) (string, error) {
	var people map[account.ID]*account.Account
	var before map[account.ID]bool
	if len(pulls) > 0 {
		var authors []account.ID
		for _, p := range pulls {
			authors = append(authors, p.authorID)
		}
		authors = db.Unique(authors)
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			if people, err = account.ByIDs(tx, authors); err == nil {
				before, err = contributedBefore(tx, a.ID, authors, pulls[0].mergedAt)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	info := web.From(ctx)
	page := info.Page(web.Path(a.Owner.Login, a.Name))
	var text, newcomers strings.Builder
	for n, p := range pulls {
		if n == 0 {
			text.WriteString("## What's Changed\n")
		}
		who := people[p.authorID]
		if who == nil {
			continue
		}
		address := fmt.Sprintf("%s/pull/%d", page, p.number)
		line := fmt.Sprintf("* %s by @%s in %s\n", oneLine(p.title), who.Login, address)
		if text.Len()+newcomers.Len()+len(line) > maxNoteBytes {
			break
		}
		text.WriteString(line)
		if !before[p.authorID] {
			before[p.authorID] = true
			if newcomers.Len() == 0 {
				newcomers.WriteString("\n## New Contributors\n")
			}
			fmt.Fprintf(&newcomers, "* @%s made their first contribution in %s\n", who.Login, address)
		}
	}
	text.WriteString(newcomers.String())
	if text.Len() > 0 {
		text.WriteString("\n\n")
	}
	full := page + "/commits/" + escapeTag(n.Tag)
	if n.Previous != "" {
		full = page + "/compare/" + escapeTag(n.Previous) + "..." + escapeTag(n.Tag)
	}
	return text.String() + "**Full Changelog**: " + full, nil
}

// oneLine writes a title so that it stays one item of a list.
func oneLine(title string) string { return strings.Join(strings.Fields(title), " ") }
