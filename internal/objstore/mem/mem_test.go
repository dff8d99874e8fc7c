package mem_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store { return mem.New(t.Name()) },
	})
}
