//go:build long

package clients

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// Requests of programs that find out about a server, and about repositories known only by id.
func about(t *testing.T, h *hub) {
	tracker(t, h)
	ctx, alice, nobody := t.Context(), h.as(t, "alice"), h.as(t, "")
	html := got[string](t)(alice.Markdown.Render(ctx, "**Hello**, @will",
		&github.MarkdownOptions{Mode: "gfm", Context: "garden/plot"}))
	equal(t, "the text", html, `<p><strong>Hello</strong>, <a class="user-mention" href="`+h.URL+
		`/will">@will</a></p>`)
	meta := got[*github.APIMeta](t)(nobody.Meta.Get(ctx))
	equal(t, "passwords", meta.GetVerifiablePasswordAuthentication(), false)
	if emojis := got[map[string]string](t)(nobody.Emojis.List(ctx)); !strings.HasPrefix(emojis["tada"],
		h.URL) {
		t.Errorf("the address of :tada: is %q", emojis["tada"])
	}
	mit := got[*github.License](t)(nobody.Licenses.Get(ctx, "mit"))
	got[*github.RepositoryContentResponse](t)(alice.Repositories.CreateFile(ctx, "garden", "plot", "LICENSE",
		&github.RepositoryContentFileOptions{
			Message: github.Ptr("License it"), Content: []byte(mit.GetBody())}))
	license := got[*github.RepositoryLicense](t)(nobody.Repositories.License(ctx, "garden", "plot"))
	equal(t, "the license", license.GetLicense().GetSPDXID(), "MIT")
	topics := got[[]string](t)(alice.Repositories.ReplaceAllTopics(ctx, "garden", "plot",
		[]string{"gardening", "Soil"}))
	equal(t, "the topics", strings.Join(topics, " "), "gardening soil")
	plot := got[*github.Repository](t)(nobody.Repositories.Get(ctx, "garden", "plot"))
	equal(t, "the topics of the repository", strings.Join(plot.Topics, " "), "gardening soil")
	same := got[*github.Repository](t)(nobody.Repositories.GetByID(ctx, plot.GetID()))
	equal(t, "the repository by its id", same.GetFullName(), "garden/plot")
	all := got[[]*github.Repository](t)(nobody.Repositories.ListAll(ctx, nil))
	equal(t, "all repositories", all[0].GetFullName(), "garden/plot")
	orgs := got[[]*github.Organization](t)(nobody.Organizations.ListAll(ctx, nil))
	equal(t, "all organizations", orgs[0].GetLogin(), "garden")
	will := got[*github.User](t)(nobody.Users.Get(ctx, "will"))
	equal(t, "a person by id", got[*github.User](t)(nobody.Users.GetByID(ctx, will.GetID())).GetLogin(),
		"will")
	testkit.NoError(t, h.Server.Server.Settle(ctx))
	equal(t, "the license of the repository",
		got[*github.Repository](t)(nobody.Repositories.Get(ctx, "garden", "plot")).GetLicense().GetKey(),
		"mit")
	if languages := got[map[string]int](t)(nobody.Repositories.ListLanguages(ctx, "garden",
		"plot")); len(languages) != 0 {
		t.Errorf("a license is code: %v", languages)
	}
	remarks(t, h)
	emails(t, h)
	codeOwners(t, h)
}

// codeOwners are told what is wrong with their list on a branch.
func codeOwners(t *testing.T, h *hub) {
	ctx, alice := t.Context(), h.as(t, "alice")
	_, _, err := alice.Repositories.GetCodeownersErrors(ctx, "garden", "plot", nil)
	refused(t, err, http.StatusNotFound, "", "")
	got[*github.RepositoryContentResponse](t)(alice.Repositories.CreateFile(ctx, "garden", "plot",
		".github/CODEOWNERS", &github.RepositoryContentFileOptions{Message: github.Ptr("Own"),
			Content: []byte("***/a @will\n")}))
	list := got[*github.CodeownersErrors](t)(alice.Repositories.GetCodeownersErrors(ctx, "garden", "plot",
		&github.GetCodeownersErrorsOptions{Ref: "main"})).Errors
	if len(list) != 1 || list[0].Kind != "Invalid pattern" || list[0].Path != ".github/CODEOWNERS" {
		t.Errorf("the errors are %+v, want one of a pattern", list)
	}
}

// remarks are comments on a commit.
func remarks(t *testing.T, h *hub) {
	ctx, alice, will := t.Context(), h.as(t, "alice"), h.as(t, "will")
	made := got[*github.RepositoryComment](t)(will.Repositories.CreateComment(ctx, "garden", "plot", "main",
		&github.RepositoryComment{Body: github.Ptr("Why **now**?"), Path: github.Ptr("LICENSE"),
			Position: github.Ptr(1)}))
	equal(t, "who commented", made.GetUser().GetLogin(), "will")
	reaction := got[*github.Reaction](t)(alice.Reactions.CreateCommentReaction(ctx, "garden", "plot",
		made.GetID(), "heart"))
	equal(t, "the reaction", reaction.GetContent(), "heart")
	list := got[[]*github.RepositoryComment](t)(alice.Repositories.ListCommitComments(ctx, "garden", "plot",
		made.GetCommitID(), nil))
	equal(t, "the comment in its list", list[0].GetBody(), "Why **now**?")
}

// emails are one's own addresses.
func emails(t *testing.T, h *hub) {
	ctx, alice := t.Context(), h.as(t, "alice")
	list := got[[]*github.UserEmail](t)(alice.Users.AddEmails(ctx, []string{"work@example.org"}))
	equal(t, "the address", list[0].GetEmail(), "work@example.org")
	done(t)(alice.Users.DeleteEmails(ctx, []string{"work@example.org"}))
}
