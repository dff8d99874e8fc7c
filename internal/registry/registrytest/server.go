package registrytest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
)

// MirroredHost is the host whose providers the network mirror at /mirror/ has: those
// of this registry.
const MirroredHost = "providers.example.net"

// Server is a running registry.
type Server struct {
	// Host is what addresses of modules and providers begin with, URL what is below it.
	Host, URL string
	// CertFile holds the certificate that clients must trust.
	CertFile string

	server *httptest.Server
	key    *openpgp.Entity

	mu sync.Mutex
	// token is what requests must bring; "" asks for none.
	token string
	// files are documents and archives by path, headers what answers bring besides.
	files   map[string][]byte
	headers map[string]http.Header
	// modules and providers are the versions there are, by path.
	modules   map[string][]string
	providers map[string]map[string][]string // platforms by version
	asked     []string
}

// New starts a registry. dir takes its certificate.
func New(dir string) (*Server, error) {
	s := &Server{
		CertFile: filepath.Join(dir, "registry.pem"), files: map[string][]byte{}, headers: map[string]http.Header{},
		modules: map[string][]string{}, providers: map[string]map[string][]string{},
	}
	certificate, err := s.certificate()
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	if s.key, err = openpgp.NewEntity("Registry", "for tests", "registry@example.com", nil); err != nil {
		return nil, fmt.Errorf("make signing key: %w", err)
	}
	s.server = httptest.NewUnstartedServer(s)
	s.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.server.StartTLS()
	s.Host = s.server.Listener.Addr().String()
	s.URL = "https://" + s.Host
	return s, nil
}

// Client trusts the registry's certificate besides what client does.
func (s *Server) Client(client *http.Client) *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(s.server.Certificate())
	trusting := *client
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
		trusting.Transport = transport
	}
	return &trusting
}

// Close ends the registry.
func (s *Server) Close() { s.server.Close() }

func (s *Server) certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "registry"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, os.WriteFile(s.CertFile, encoded, 0o600)
}

// Require makes requests of the registry's services need a token.
func (s *Server) Require(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Asked returns the paths of requests so far, and forgets them.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	service := strings.HasPrefix(r.URL.Path, "/v1/")
	if service && s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path := r.URL.Path
	switch {
	case path == "/.well-known/terraform.json":
		answer(w, map[string]string{"modules.v1": "/v1/modules/", "providers.v1": "/v1/providers/"})
	case strings.HasSuffix(path, "/versions") && strings.HasPrefix(path, "/v1/modules/"):
		s.moduleVersions(w, strings.TrimSuffix(strings.TrimPrefix(path, "/v1/modules/"), "/versions"))
	case strings.HasSuffix(path, "/versions") && strings.HasPrefix(path, "/v1/providers/"):
		s.providerVersions(w, strings.TrimSuffix(strings.TrimPrefix(path, "/v1/providers/"), "/versions"))
	case s.files[path] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		for name, values := range s.headers[path] {
			w.Header()[name] = values
		}
		if len(s.files[path]) == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write(s.files[path])
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// Put serves content at a path, with headers.
func (s *Server) Put(path string, content []byte, header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path], s.headers[path] = append([]byte{}, content...), header
}

// Spoil changes the last byte of everything whose path has a part, and says of how
// many. Once more changes it back.
func (s *Server) Spoil(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for path, content := range s.files {
		if strings.Contains(path, part) && len(content) > 0 {
			content[len(content)-1] ^= 1
			n++
		}
	}
	return n
}

// AddModule adds a version of a module NAMESPACE/NAME/SYSTEM with its files. Its
// archive is where get leads, or at a relative address if get is "".
func (s *Server) AddModule(path, version string, files map[string]string, get string) error {
	archive, err := TarGz(files)
	if err != nil {
		return err
	}
	at := "/archives/" + path + "/" + version + ".tar.gz"
	s.Put(at, archive, nil)
	if get == "" {
		get = at
	}
	s.Put("/v1/modules/"+path+"/"+version+"/download", nil, http.Header{"X-Terraform-Get": {get}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modules[path] = append(s.modules[path], version)
	return nil
}

func (s *Server) moduleVersions(w http.ResponseWriter, path string) {
	if s.modules[path] == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var list []map[string]string
	for _, v := range s.modules[path] {
		list = append(list, map[string]string{"version": v})
	}
	answer(w, map[string]any{"modules": []any{map[string]any{"versions": list}}})
}

// AddProvider adds a package of a provider NAMESPACE/TYPE for one platform: to the
// registry, and to the network mirror at /mirror/. The signed checksums of a version
// list its packages for all platforms.
func (s *Server) AddProvider(path, version, platform string, archive []byte) error {
	_, typeName, _ := strings.Cut(path, "/")
	name := fmt.Sprintf("terraform-provider-%s_%s_%s.zip", typeName, version, platform)
	base := "/packages/" + path + "/" + version + "/"
	s.mu.Lock()
	sums := append(slices.Clone(s.files[base+"SHA256SUMS"]), fmt.Sprintf("%s  %s\n", hexSum(archive), name)...)
	s.mu.Unlock()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, s.key, bytes.NewReader(sums), nil); err != nil {
		return fmt.Errorf("sign checksums: %w", err)
	}
	public, err := s.publicKey()
	if err != nil {
		return err
	}
	s.Put(base+name, archive, nil)
	s.Put(base+"SHA256SUMS", sums, nil)
	s.Put(base+"SHA256SUMS.sig", signature.Bytes(), nil)
	system, arch, _ := strings.Cut(platform, "_")
	document, err := json.Marshal(map[string]any{
		"protocols": []string{"5.0", "6.0"}, "os": system, "arch": arch, "filename": name, "download_url": base + name, "shasum": hexSum(archive),
		"shasums_url": base + "SHA256SUMS", "shasums_signature_url": base + "SHA256SUMS.sig",
		"signing_keys": map[string]any{"gpg_public_keys": []any{map[string]any{"key_id": s.key.PrimaryKey.KeyIdString(), "ascii_armor": public}}},
	})
	if err != nil {
		return err
	}
	s.Put("/v1/providers/"+path+"/"+version+"/download/"+system+"/"+arch, document, nil)
	return s.addToMirror(path, version, platform, name, archive)
}

func (s *Server) publicKey() (string, error) {
	var public bytes.Buffer
	armored, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err == nil {
		err = s.key.Serialize(armored)
	}
	if err == nil {
		err = armored.Close()
	}
	if err != nil {
		return "", fmt.Errorf("encode signing key: %w", err)
	}
	return public.String(), nil
}

func (s *Server) addToMirror(path, version, platform, name string, archive []byte) error {
	s.mu.Lock()
	if s.providers[path] == nil {
		s.providers[path] = map[string][]string{}
	}
	if !slices.Contains(s.providers[path][version], platform) {
		s.providers[path][version] = append(s.providers[path][version], platform)
	}
	versions, archives := map[string]any{}, map[string]any{}
	for v := range s.providers[path] {
		versions[v] = map[string]any{}
	}
	_, typeName, _ := strings.Cut(path, "/")
	for _, p := range s.providers[path][version] {
		archives[p] = map[string]any{"url": fmt.Sprintf("terraform-provider-%s_%s_%s.zip", typeName, version, p), "hashes": []string{"zh:" + hexSum(archive)}}
	}
	s.mu.Unlock()
	base := "/mirror/" + MirroredHost + "/" + path + "/"
	for at, document := range map[string]any{"index.json": map[string]any{"versions": versions}, version + ".json": map[string]any{"archives": archives}} {
		encoded, err := json.Marshal(document)
		if err != nil {
			return err
		}
		s.Put(base+at, encoded, http.Header{"Content-Type": {"application/json"}})
	}
	s.Put(base+name, archive, nil)
	return nil
}

func (s *Server) providerVersions(w http.ResponseWriter, path string) {
	if s.providers[path] == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var list []map[string]any
	for version, platforms := range s.providers[path] {
		var on []map[string]string
		for _, p := range platforms {
			system, arch, _ := strings.Cut(p, "_")
			on = append(on, map[string]string{"os": system, "arch": arch})
		}
		list = append(list, map[string]any{"version": version, "protocols": []string{"5.0", "6.0"}, "platforms": on})
	}
	answer(w, map[string]any{"versions": list})
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TarGz packs files into an archive. A name that ends in " -> TARGET" is a link.
func TarGz(files map[string]string) ([]byte, error) {
	var buf bytes.Buffer
	compressed := gzip.NewWriter(&buf)
	archive := tar.NewWriter(compressed)
	for name, content := range files {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}
		if link, target, isLink := strings.Cut(name, " -> "); isLink {
			header = &tar.Header{Name: link, Linkname: target, Typeflag: tar.TypeSymlink, Mode: 0o777}
			content = ""
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Zip packs files, which are programs, into an archive.
func Zip(files map[string][]byte) ([]byte, error) {
	var buf bytes.Buffer
	archive := zip.NewWriter(&buf)
	for name, content := range files {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		header.SetMode(0o755)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
