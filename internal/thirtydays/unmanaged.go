package thirtydays

import "github.com/towline/terraform-provider-towline/internal/control"

// digestIn is what a receipt says of an object that nobody manages: it changes with
// the object. It is "" where the receipt does not know of it.
func digestIn(r *control.Receipt, id string) string {
	for i := range r.Unmanaged {
		if r.Unmanaged[i].ID == id {
			return r.Unmanaged[i].Digest
		}
	}
	return ""
}
