// Package bundle reads and writes the offline bundle: a folder with every image and every remote manifest that the
// named environments need. It is an OCI image layout, in which each manifest carries its full reference as the
// annotation org.opencontainers.image.ref.name, with the additional file bundle.json.
package bundle

// Schema is the version of the format that this package reads and writes.
const Schema = 2

// IndexFile is the name of the bundle's own index in its folder.
const IndexFile = "bundle.json"

// profileFolder holds the files of the profile in the bundle's folder.
const profileFolder = "profile"

// RefNameAnnotation is the annotation of the OCI image specification that carries an image's full reference.
const RefNameAnnotation = "org.opencontainers.image.ref.name"

// Load says where an image of the bundle belongs.
type Load string

const (
	// LoadRegistry is for images that clusters pull: they are pushed to the registry of the environment.
	LoadRegistry Load = "registry"
	// LoadDocker is for images of containers on the host itself: they are loaded into the Docker engine.
	LoadDocker Load = "docker"
)

// Index is the content of bundle.json.
type Index struct {
	// Schema is the version of the format.
	Schema int `json:"schema"`
	// Version changes when anything that defines the bundle's content changes.
	Version string `json:"version"`
	// Environments are the names of the environments that the bundle is complete for.
	Environments []string `json:"environments"`
	// KubernetesVersion is the version of the node image, such as v1.36.4.
	KubernetesVersion string `json:"kubernetesVersion"`
	// NodeImage is the reference of the image for kind nodes and Docker machines.
	NodeImage string `json:"nodeImage"`
	// LoadBalancerImage is the reference of the image for the load balancer in front of Docker machines.
	LoadBalancerImage string `json:"loadBalancerImage"`
	// Images are the images of the layout.
	Images []Image `json:"images"`
	// NodeContent lists the images inside of the node image. They are not in the layout, so their Load is empty.
	NodeContent []Image `json:"nodeContent,omitempty"`
	// Manifests are the remote manifests, by the URL under which others fetch them.
	Manifests []Manifest `json:"manifests"`
	// Values are Helm values that an environment needs when it is built from this bundle.
	Values map[string]any `json:"values,omitempty"`
	// Profile are files that an environment needs in addition to its content when it is built from this bundle: further
	// components, which Values refer to.
	Profile []File `json:"profile,omitempty"`
}

// File is one file of the profile.
type File struct {
	// Path is where the content has the file, with slashes, such as kustomize-components/NAME/kustomization.yaml. In
	// the bundle it is below the folder profile.
	Path string `json:"path"`
	// SHA256 is the checksum of the file, in hexadecimal digits.
	SHA256 string `json:"sha256"`
}

// Image is one image of the bundle and where it comes from.
type Image struct {
	// Reference is the full reference under which manifests name the image.
	Reference string `json:"reference"`
	// Digest is the digest of the image's manifest, such as sha256:...
	Digest string `json:"digest"`
	// Module, ModuleVersion and Sum name the Go module that the image was built from and its go.sum checksum.
	Module        string `json:"module,omitempty"`
	ModuleVersion string `json:"moduleVersion,omitempty"`
	Sum           string `json:"sum,omitempty"`
	// Load says where the image belongs.
	Load Load `json:"load,omitempty"`
	// DebianBased is true for images with Debian packages, which a rebuild may give another digest.
	DebianBased bool `json:"debianBased"`
}

// Manifest is one remote file of the bundle.
type Manifest struct {
	// URL is where others fetch the file.
	URL string `json:"url"`
	// Path is the file below the bundle's folder, with slashes.
	Path string `json:"path"`
	// SHA256 is the checksum of the file, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Module and ModuleVersion name the Go module that the file was rendered from.
	Module        string `json:"module,omitempty"`
	ModuleVersion string `json:"moduleVersion,omitempty"`
}
