package open

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/azblob"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/objstore/gcs"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/s3"
)

// forms is what people may write.
const forms = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX?account=NAME or file:///PATH"

// Open opens a store by its URL:
//
//	file:///ABSOLUTE/PATH
//	s3://BUCKET/PREFIX?region=REGION&endpoint=URL&path_style=true
//	gs://BUCKET/PREFIX?endpoint=URL&anonymous=true
//	azblob://CONTAINER/PREFIX?account=NAME&endpoint=URL&anonymous=true
//	mem://NAME    one store a name within this process; for tests
//
// The error says what a user can do and quotes no secret.
func Open(ctx context.Context, rawURL string) (objstore.Store, error) {
	scheme, _, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, fmt.Errorf("open store: %q is not a URL; write %s", withoutQuery(rawURL), forms)
	}
	switch scheme {
	case "s3":
		return s3.Open(ctx, rawURL)
	case "azblob":
		return azblob.Open(ctx, rawURL)
	case "gs":
		return gcs.Open(ctx, rawURL)
	case "file":
		return openFile(rawURL)
	case "mem":
		return mem.Named(strings.TrimPrefix(rawURL, "mem://")), nil
	}
	return nil, fmt.Errorf("open store: URLs that begin with %s:// are not known; write %s", scheme, forms)
}

func openFile(rawURL string) (objstore.Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open file store: %w", err)
	}
	if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
		return nil, fmt.Errorf("open file store: write file:///ABSOLUTE/PATH, with three slashes and no parameters, not %q", withoutQuery(rawURL))
	}
	return file.Open(filepath.FromSlash(u.Path))
}

func withoutQuery(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return text
}
