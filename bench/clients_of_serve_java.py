"""Clients in Java that `clients_of_serve.py` tries, each of one artifact of Maven."""
# ruff: noqa: E501 (scripts have long lines)

from __future__ import annotations

#: `$ARTIFACT` with all that it needs, and `Program.java`.
_RUN = r"""
printf '%s' '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>p</artifactId><version>1</version><dependencies>' > pom.xml
for a in $ARTIFACT org.slf4j:slf4j-nop:2.0.17; do IFS=: read -r g n v <<< "$a"
printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>' "$g" "$n" "$v" >> pom.xml; done
printf '</dependencies></project>' >> pom.xml
HOME=$HOME_OF_USER mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars
echo "version ${ARTIFACT##*:}"; java -cp 'jars/*' Program.java
"""

_SMBJ = r"""
import com.hierynomus.msdtyp.AccessMask; import com.hierynomus.mssmb2.*; import com.hierynomus.smbj.*; import com.hierynomus.smbj.auth.*; import com.hierynomus.smbj.share.*;
import java.nio.file.*; import java.util.*;
public class Program { public static void main(String[] a) throws Exception {
 byte[] data = Files.readAllBytes(Path.of("up.bin")); Map<String,String> e = System.getenv();
 try (var client = new SMBClient(); var c = client.connect(e.get("HOST"), Integer.parseInt(e.get("PORT")))) {
  var s = c.authenticate(new AuthenticationContext(e.get("NAME"), e.get("SECRET").toCharArray(), ""));
  try (var share = (DiskShare) s.connectShare("lanlab")) {
   try (var f = share.openFile("a.bin", EnumSet.of(AccessMask.GENERIC_WRITE), null, SMB2ShareAccess.ALL, SMB2CreateDisposition.FILE_OVERWRITE_IF, null)) { f.write(data, 0); }
   try (var f = share.openFile("a.bin", EnumSet.of(AccessMask.GENERIC_READ), null, SMB2ShareAccess.ALL, SMB2CreateDisposition.FILE_OPEN, null); var in = f.getInputStream()) { Files.write(Path.of("down.bin"), in.readAllBytes()); }
   share.mkdir("d");
   try (var f = share.openFile("d\\x", EnumSet.of(AccessMask.GENERIC_WRITE, AccessMask.DELETE), null, SMB2ShareAccess.ALL, SMB2CreateDisposition.FILE_CREATE, null)) { f.write(new byte[]{1}, 0); f.rename("d\\y"); }
   if (!share.fileExists("d\\y") || share.getFileInformation("a.bin").getStandardInformation().getEndOfFile() != data.length) throw new Exception("not there");
   if (share.list("d").stream().noneMatch(i -> i.getFileName().equals("y"))) throw new Exception("not listed");
   share.rm("d\\y"); share.rmdir("d", true);
  } } System.out.println("done"); } }
"""

_JCIFS = r"""
import jcifs.*; import jcifs.config.*; import jcifs.context.*; import jcifs.smb.*;
import java.nio.file.*; import java.util.*;
public class Program { public static void main(String[] a) throws Exception {
 byte[] data = Files.readAllBytes(Path.of("up.bin")); Map<String,String> e = System.getenv();
 var p = new Properties(); p.put("jcifs.smb.client.maxVersion", "SMB311"); p.put("jcifs.smb.client.minVersion", "SMB202");
 var c = new BaseContext(new PropertyConfiguration(p)).withCredentials(new NtlmPasswordAuthenticator("", e.get("NAME"), e.get("SECRET")));
 String at = "smb://" + e.get("HOST") + ":" + e.get("PORT") + "/lanlab/";
 try (var f = new SmbFile(at + "a.bin", c); var out = f.getOutputStream()) { out.write(data); }
 try (var f = new SmbFile(at + "a.bin", c); var in = f.getInputStream()) { Files.write(Path.of("down.bin"), in.readAllBytes()); if (f.length() != data.length) throw new Exception("length"); }
 try (var d = new SmbFile(at + "d/", c); var f = new SmbFile(at + "d/x", c); var g = new SmbFile(at + "d/y", c)) {
  d.mkdir(); f.createNewFile(); f.renameTo(g);
  if (!g.exists() || !Arrays.asList(d.list()).contains("y")) throw new Exception("not listed: " + Arrays.toString(d.list()));
  g.delete(); d.delete(); }
 System.out.println("done"); System.exit(0); } }
"""


def _script(artifact: str, program: str) -> str:
    return f"ARTIFACT={artifact}\ncat > Program.java <<'J'\n{program}J\n{_RUN}"


SCRIPTS = {
    "smbj": _script("com.hierynomus:smbj:0.14.0", _SMBJ),
    "jcifs-ng": _script("eu.agno3.jcifs:jcifs-ng:2.1.10", _JCIFS),
}
