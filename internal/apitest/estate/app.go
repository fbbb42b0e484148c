package estate

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/app"
	"arbor/internal/testkit"
)

// Robot is a GitHub App that signs requests, Bot what it is with the token of an installation that may
// everything.
const (
	Robot = "robot"
	Bot   = "robot[bot]"
)

// inspector begins the names of Apps, one for each owner of repositories, that write checks and may nothing
// else.
const inspector = "inspector-"

// firstInspector checks the repositories of the first home.
const firstInspector = inspector + "1[bot]"

// ByInspector reports that only an App may do it, the one that checks the repository.
func (q *Request) ByInspector() bool { return strings.HasPrefix(q.Who, inspector) }

// inspector is the App that checks an owner's repositories, which it makes.
func (w *World) inspector(t *testing.T, owner string) *apitest.App {
	t.Helper()
	if w.inspectors[owner] == nil {
		a := w.Bot(t, fmt.Sprint(inspector, len(w.inspectors)+1), owner, "checks=write")
		w.inspectors[owner] = a
		w.Tokens[a.Slug+"[bot]"] = w.Token(t, a.Slug+"[bot]")
	}
	return w.inspectors[owner]
}

// inspect makes a check of a commit of the home.
func (w *World) inspect(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, h.Is["inspector bot"], "POST "+h.path()+"/check-runs", fmt.Sprintf(
		`{"name":%q,"head_sha":%q,"external_id":%q,"conclusion":"success","output":{"title":%q,"summary":%q,"text":%q,
		"annotations":[{"path":%q,"start_line":1,"end_line":1,"annotation_level":"notice","message":%q}]}}`,
		h.Mark, h.Is["commit"], h.Mark, h.Mark, h.Mark, h.Mark, h.Mark+".txt", h.Mark), "id")
}

// employ makes a GitHub App, and installs it for all repositories of the organization and for one of
// holder's.
func (w *World) employ(t *testing.T) {
	t.Helper()
	all := "administration=write,checks=write,contents=write,issues=write,members=write,organization_administration=write," +
		"organization_hooks=write,pull_requests=write,repository_hooks=write,statuses=write"
	w.robot = w.NewApp(t, "keeper", app.Manifest{Name: Robot, Public: true, Description: "It works.",
		Events: []string{"public"}, Permissions: apitest.Permissions(all),
		Hook: app.Hook{URL: nobody + "robot", Active: true, Site: w.URL}})
	w.Repo(t, "holder/allotment", false)
	w.installations = map[string]string{"guild": fmt.Sprint(w.robot.Install(t, "guild").ID),
		"holder": fmt.Sprint(w.robot.Install(t, "holder", "allotment").ID)}
	w.robot.Install(t, "keeper")
	w.Tokens[Robot] = w.robot.JWT(t)
	w.SetToken(Robot, w.Tokens[Robot])
	w.botToken(t)
}

// botToken gives the bot a token of the installation on the organization.
func (w *World) botToken(t *testing.T) {
	t.Helper()
	w.Tokens[Bot] = w.BotToken(t, "")
	w.SetToken(Bot, w.Tokens[Bot])
}

// BotToken makes a token of the installation on the organization; body may limit it.
func (w *World) BotToken(t *testing.T, body string) string {
	t.Helper()
	id, err := strconv.ParseInt(w.installations["guild"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return w.robot.Token(t, account.InstallationID(id), body)
}

// aBotToken makes another token of the bot, for who ends it.
func aBotToken(w *World, t *testing.T, _ *Home) map[string]string {
	w.botToken(t)
	return nil
}

// appDelivery waits until the App was told that it was installed, or that was tried.
func (w *World) appDelivery(t *testing.T) string {
	t.Helper()
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var list []struct{ ID int64 }
		w.Check(t, apitest.Case{Do: "GET /app/hook/deliveries", Headers: w.robot.Signed(t),
			Status: 200}).JSON(t, &list)
		if len(list) > 0 {
			return fmt.Sprint(list[len(list)-1].ID)
		}
	}
	t.Fatal("the App was not told that it was installed")
	return ""
}

// anInstallation installs the App on somebody new.
func anInstallation(w *World, t *testing.T, h *Home) map[string]string {
	login := w.name()
	w.User(t, login)
	return map[string]string{"installation_id": fmt.Sprint(w.robot.Install(t, login).ID)}
}

// aSuspension is anInstallation that is suspended.
func aSuspension(w *World, t *testing.T, h *Home) map[string]string {
	made := anInstallation(w, t, h)
	w.Check(t, apitest.Case{Do: "PUT /app/installations/" + made["installation_id"] + "/suspended",
		Headers: w.robot.Signed(t), Status: 204})
	return made
}

// aReach makes a repository of holder's that the installation there does not reach.
func aReach(w *World, t *testing.T, _ *Home) map[string]string {
	r := w.Repo(t, "holder/"+w.name(), false)
	return map[string]string{"installation_id": w.installations["holder"], "repository_id": r.ID.String()}
}

// aSelection is aReach for one that it does reach.
func aSelection(w *World, t *testing.T, h *Home) map[string]string {
	made := aReach(w, t, h)
	w.OK(t, "holder", "PUT /user/installations/"+made["installation_id"]+"/repositories/"+
		made["repository_id"], "")
	return made
}

// aManifest has an App made of a manifest in a browser, for whose code its keys are had.
func aManifest(w *World, t *testing.T, _ *Home) map[string]string {
	form := url.Values{"manifest": {`{"name":"` + w.name() +
		`","url":"https://robots.example","redirect_url":"https://robots.example"}`},
		"name": {w.name()}}
	a := w.Check(t, apitest.Case{Do: "POST /settings/apps", As: "keeper", Send: form.Encode(), Status: 303,
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded",
			"Accept": "text/html"}})
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"code": to.Query().Get("code")}
}
