package issue

import (
	"arbor/internal/account"
	"arbor/internal/issue/text"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// reference is what a new text says of other issues.
type reference struct {
	issues  []markdown.IssueRef
	comment int64 // in which the text stands; 0: the issue's own body
}

// namedIssue is an issue that a text names.
type namedIssue struct {
	repoID repo.ID
	number int64
	pull   bool // only if it is a pull request: the repository has no issues
}

// ReadText takes from a new text, of the comment or with 0 of the issue itself, whom
// it mentions: those who can see the repository (decision 14), and which issues
// it names.
func (c *Change) ReadText(t Text, comment int64) error {
	if len(t.refs.Issues) > 0 {
		c.references = append(c.references, reference{t.refs.Issues, comment})
	}
	people, err := repo.PeopleNamed(c.Tx, c.Repo, t.refs.Logins)
	if err != nil {
		return err
	}
	for _, p := range people {
		if p.Kind == account.User && p.Role >= account.Pull {
			c.Mention(p.ID)
		}
	}
	return nil
}

// Read takes from new texts that are neither the issue's body nor comments of
// this package whom they mention and which issues they name.
func (c *Change) Read(list ...Text) error {
	var all Text
	logins, issues := map[string]bool{}, map[markdown.IssueRef]bool{}
	for _, t := range list {
		for _, l := range t.refs.Logins {
			if !logins[l] && len(logins) < text.MaxTargets {
				logins[l] = true
				all.refs.Logins = append(all.refs.Logins, l)
			}
		}
		for _, i := range t.refs.Issues {
			if !issues[i] && len(issues) < text.MaxTargets {
				issues[i] = true
				all.refs.Issues = append(all.refs.Issues, i)
			}
		}
	}
	return c.ReadText(all, 0)
}

// refer notes with the issues that the change's new texts name, as far as the
// actor sees them, that they were named: once for each issue that does so. It
// takes two statements for a text whatever it names.
//
// The repositories of those issues are not locked: nothing that is cached by
// their generations shows it.
func (c *Change) refer() error {
	for _, ref := range c.references {
		named, err := c.namedIssues(ref.issues)
		if err == nil && len(named) > 0 {
			err = insertCrossReferences(c.Tx, c.Issue.ID, c.Actor.ID, ref.comment, named)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// namedIssues finds where the issues are that a text in this repository names.
func (c *Change) namedIssues(refs []markdown.IssueRef) ([]namedIssue, error) {
	here := &repo.Access{Repo: c.Repo}
	own := text.FullName(here, "", "")
	known := map[string]*repo.Repo{own: c.Repo}
	var foreign []string
	for _, i := range refs {
		if name := text.FullName(here, i.Owner, i.Repo); name != own {
			foreign = append(foreign, name)
		}
	}
	visible, err := repo.VisibleNamed(c.Tx, c.Actor, foreign)
	if err != nil {
		return nil, err
	}
	for _, a := range visible {
		known[account.Fold(a.FullName())] = a.Repo
	}
	var list []namedIssue
	for _, i := range refs {
		if r := known[text.FullName(here, i.Owner, i.Repo)]; r != nil {
			list = append(list, namedIssue{r.ID, i.Number, !r.HasIssues})
		}
	}
	return list, nil
}
