/** The kept students, with buttons for each. */
import { Button } from '../../parts/controls.js';
import { forgetStudent, keptStudents } from '../../students/kept-students.js';
import { graderOf } from '../../students/student-files.js';
import { download, playAgainst } from './student-links.js';

export const KeptStudents = () => (
  <section class="panel" aria-labelledby="kept">
    <h2 id="kept">Your students</h2>
    <ul class="kept">
      {keptStudents.value.map((student) => (
        <li key={student.name}>
          <span>
            {student.name} <small>trained under {graderOf(student)}</small>
          </span>
          <Button onClick={() => playAgainst(student.name, graderOf(student))}>
            Play against<span class="visually-hidden"> {student.name}</span>
          </Button>
          <Button onClick={() => download(student)}>
            Download<span class="visually-hidden"> {student.name}</span>
          </Button>
          <Button onClick={() => forgetStudent(student.name)}>
            Delete<span class="visually-hidden"> {student.name}</span>
          </Button>
        </li>
      ))}
    </ul>
    <p class="fine">
      This browser stores these students. They are in the lists of Crowd, One person and Daily, and in the
      ranking of Graders.
    </p>
  </section>
);
