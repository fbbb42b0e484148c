package estate

import (
	"fmt"
	"testing"
	"time"

	"arbor/internal/apitest"
	"arbor/internal/testkit"
)

// nobody is an address at which nobody listens, with a path of its own for each hook.
const nobody = "http://127.0.0.1:1/"

// tell makes hooks of the repository and of the organization, each with a delivery that failed, and tells
// keeper of a mention.
func (w *World) tell(t *testing.T, h *Home) {
	t.Helper()
	h.Is["hook"] = w.newHook(t, "keeper", h.path(), h.Mark, "push")
	h.Is["delivery"] = w.delivery(t, "keeper", h.path(), h.Is["hook"])
	if w.guildHook == "" {
		w.guildHook = w.newHook(t, "owner", "/orgs/guild", "guild", "organization")
		w.guildDelivery = w.delivery(t, "owner", "/orgs/guild", w.guildHook)
	}
	h.Is["thread"] = w.thread(t, h)
	h.Is["guild hook"], h.Is["guild delivery"] = w.guildHook, w.guildDelivery
}

func (w *World) newHook(t *testing.T, as, place, name, event string) string {
	t.Helper()
	return w.made(t, as, "POST "+place+"/hooks",
		fmt.Sprintf(`{"name":"web","config":{"url":%q},"events":[%q]}`, nobody+name, event), "id")
}

// delivery waits until a hook's ping was tried.
func (w *World) delivery(t *testing.T, as, place, hook string) string {
	t.Helper()
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var list []struct{ ID int64 }
		ask := apitest.Case{Do: "GET " + place + "/hooks/" + hook + "/deliveries", As: as, Status: 200}
		w.Check(t, ask).JSON(t, &list)
		if len(list) > 0 {
			return fmt.Sprint(list[0].ID)
		}
	}
	t.Fatal("the ping of a hook was not tried")
	return ""
}

// aHook makes another hook of the repository, for who removes it.
func aHook(w *World, t *testing.T, h *Home) map[string]string {
	return map[string]string{"hook_id": w.newHook(t, "keeper", h.path(), w.name(), "push")}
}

// aGuildHook is aHook for the organization.
func aGuildHook(w *World, t *testing.T, _ *Home) map[string]string {
	return map[string]string{"hook_id": w.newHook(t, "owner", "/orgs/guild", w.name(), "organization")}
}
