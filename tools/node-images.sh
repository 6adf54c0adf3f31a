#!/bin/sh
# Builds the images for make node as archives, as root and without a registry:
#
#   tools/node-images.sh IMAGE VERSION COMMIT FOLDER
#
# FOLDER gets image.tar, which is IMAGE, with stand-ins for its bases unless IMAGE_FLAGS is set, and
# pause.tar, of bin/pause.
set -eu
image=$1 version=$2 commit=$3
cd "$(dirname "$0")/.."
mkdir -p "$4"
folder=$(cd "$4" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM # or a signal would leave it
. tools/stand-ins.sh

arch=$(go env GOARCH)
if [ -z "${IMAGE_FLAGS:-}" ]; then
  go_stand_in
  base_stand_in "$arch"
  export IMAGE_FLAGS="$stand_in_flags"
fi
tools/image.sh "$image" "linux/$arch" "$version" "$commit" "$folder/image.tar"

mkdir "$work/pause"
cp bin/pause "$work/pause"
printf 'FROM scratch\nCOPY pause /pause\nUSER 65532:65532\nENTRYPOINT ["/pause"]\n' > "$work/pause/Dockerfile"
rm -f "$folder/pause.tar"
podman build --quiet --pull=never --tag docker.io/library/pause:1 "$work/pause"
podman save --quiet --output "$folder/pause.tar" docker.io/library/pause:1
