package rule

import (
	"context"
	"fmt"
	"slices"

	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/signature"
)

// maxShown bounds the commits whose signatures AskSignatures looks at. A merge looks at more.
const maxShown = 1000

// AskSignatures adds to outlooks which commits of the heads lack a verified signature, where a rule requires that, and
// what to do. It reads Git for each such pull request, and verifies all commits with one transaction. If a squash is
// allowed, the pull request can be merged, since the server signs the commit that it makes, and this is a note.
func AskSignatures(
	ctx context.Context, repos *repo.Service, signatures *signature.Service, list []Candidate,
	found map[int64]*Outlook,
) error {
	open := opened{repos: repos, objects: map[repo.ID]*git.Repository{}}
	defer open.close()
	added := map[int64][]*git.Commit{}
	var all []*git.Commit
	for _, c := range list {
		o := found[c.Pull]
		if o == nil || !o.Signatures || c.Tip == "" {
			continue
		}
		objects, err := open.git(ctx, c.Repo)
		if err != nil {
			return err
		}
		shas, err := objects.NewCommits(ctx, []git.SHA{c.Head}, append(o.judged, c.Tip), maxShown+1)
		if err != nil {
			return err
		}
		if o.Verified = true; len(all)+len(shas) > maxShown {
			o.note("The merge checks the signatures of the commits; they are too many to check them before.")
			continue
		}
		if added[c.Pull], err = objects.Commits(ctx, shas); err != nil {
			return err
		}
		all = append(all, added[c.Pull]...)
	}
	bad, err := signatures.Unverified(ctx, all)
	if err != nil {
		return err
	}
	for _, c := range list {
		commits := slices.DeleteFunc(added[c.Pull], func(c *git.Commit) bool { return !bad[c.SHA] })
		if len(commits) > 0 {
			found[c.Pull].unsigned(len(commits), commits[len(commits)-1].SHA)
		}
	}
	return nil
}

// unsigned notes that commits lack a verified signature, of which sha is the oldest.
func (o *Outlook) unsigned(count int, sha git.SHA) {
	what := "Commit " + string(sha[:7]) + " must have a verified signature. "
	if count > 1 {
		what = fmt.Sprintf("%d commits must have verified signatures, the oldest of them %s. ", count, sha[:7])
	}
	if o.squash {
		o.note(what + "Squash and merge makes one commit that the server signs; or sign them " + howToSign)
		return
	}
	what += "Sign them " + howToSign
	o.Missing, o.Unready = append(o.Missing, what), append(o.Unready, what)
}

const howToSign = "with git rebase --force-rebase -S on top of the base branch, and force-push the branch."

// note adds a sentence that people should know.
func (o *Outlook) note(sentence string) { o.Note = join(o.Note, sentence) }

// mustBeSigned notes that a ruleset requires signatures of the commits that a merge into a branch adds.
func (o *Outlook) mustBeSigned(b *rulebook, set *Ruleset, branch string) {
	main := git.Heads + b.defaultBranch
	if first := !o.Signatures; first && git.Heads+branch != main && b.defaultTip != "" {
		o.judged = []git.SHA{b.defaultTip}
	}
	if o.Signatures = true; !slices.Contains(b.on(main), set) {
		o.judged = nil // the default branch may have others
	}
}
